// A simulator that knows nothing of kernwave and loads a model that holds it.

#include <dlfcn.h>

#include <cstdio>
#include <systemc>

int sc_main(int count, char** arguments) {
  void* model = count == 2 ? dlopen(arguments[1], RTLD_NOW) : nullptr;
  if (model == nullptr) {
    std::fprintf(stderr, "host: %s\n", count == 2 ? dlerror() : "usage: host MODEL");
    return 1;
  }
  const auto run = reinterpret_cast<long long (*)()>(dlsym(model, "kernwave_model_run"));
  const long long time = run != nullptr ? run() : -1;
  // issue 8 cycles of 1 ns, dispatch 2, setup 20 ns, latency 100 ns, 16 KiB at 128 GB/s
  const long long expected = 8'000 + 2'000 + 20'000 + 100'000 + 128'000;
  std::printf("the model in a shared object: %lld ps\n", time);
  return time == expected ? 0 : 1;
}
