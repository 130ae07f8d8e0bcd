# find_package(kernwave): the targets kernwave::models, kernwave::tl, kernwave::kernels, kernwave::traces and
# kernwave::platform. SystemC is found as kernwave itself found it: see FindKernwaveSystemC.cmake.

include(CMakeFindDependencyMacro)

list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_dependency(KernwaveSystemC)
list(POP_FRONT CMAKE_MODULE_PATH)
find_dependency(fmt)
find_dependency(ZLIB)
find_dependency(SQLite3)
find_dependency(Threads)

include("${CMAKE_CURRENT_LIST_DIR}/kernwaveTargets.cmake")

# The files of the project that uses kernwave are named as from its own folder, kernwave's headers as from kernwave's.
include("${CMAKE_CURRENT_LIST_DIR}/KernwaveSourceNames.cmake")
get_target_property(_kernwave_headers kernwave::models INTERFACE_INCLUDE_DIRECTORIES)
list(FILTER _kernwave_headers INCLUDE REGEX "/kernwave$")
kernwave_name_sources_from(kernwave::models INTERFACE "${CMAKE_SOURCE_DIR}" ${_kernwave_headers})
unset(_kernwave_headers)
