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
