// What AddressSanitizer's search for leaks, in builds of the preset "sanitize", is not to call a leak: what a kernel
// holds when its run ends before it does. SystemC does not unwind the threads that it leaves suspended, and their
// stacks are not searched. Part of executables, never of a library, so that whoever links the libraries may have an own
// list.
#ifdef __SANITIZE_ADDRESS__

// The names by which the sanitizer's library asks.
extern "C" const char* __lsan_default_suppressions() { return "leak:kernwave::PeCpu::run\n"; }
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }

#endif
