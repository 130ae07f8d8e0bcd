#include "tests/support/planted_faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/support/child.h"

namespace kernwave::testing {

namespace {

class PlantedFault : public ::testing::Test {
 public:
  explicit PlantedFault(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

void plant(const char* name, const std::function<void()>& body) {
  ::testing::RegisterTest("PlantedFaults", name, nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> ::testing::Test* { return new PlantedFault(body); });
}

void plant_in_child(const char* name, const std::function<void()>& body) {
  plant(name, [body] { in_child(body); });
}

void say_and_fail_fatally() {
  std::puts("what the child has said");
  FAIL() << "on purpose";
}

/// Which nothing refers to when the child ends.
void leak() {
  volatile char* lost = new char[4096];
  lost[0] = 1;
  lost = nullptr;
}

}  // namespace

void register_planted_faults() {
  plant_in_child("Nothing", [] { EXPECT_EQ(1 + 1, 2); });
  plant_in_child("Expectation", [] { EXPECT_EQ(1, 2) << "on purpose"; });
  plant_in_child("Assertion", say_and_fail_fatally);
  plant_in_child("Exception", [] { throw std::runtime_error("on purpose"); });
  plant_in_child("ForeignException", [] { throw 7; });
  plant_in_child("ExitCode", [] { _exit(3); });
  plant_in_child("EarlyExit", [] { _exit(0); });
  plant_in_child("Signal", [] { static_cast<void>(std::raise(SIGKILL)); });
  plant_in_child("Leak", leak);
  plant("TimeOut",
        [] { in_child([] { std::this_thread::sleep_for(std::chrono::minutes(5)); }, std::chrono::seconds(1)); });
  plant("TimeOutOfATalker", [] {
    in_child(
        [] {
          for (;;) std::puts("and on");
        },
        std::chrono::seconds(1));
  });
  plant("ShortResult", [] {
    const std::string result = from_child([]() -> std::string { _exit(0); });
    EXPECT_EQ(result, "");
  });
  plant("GrandchildExpectation", [] { in_child([] { in_child([] { EXPECT_EQ(1, 2) << "on purpose"; }); }); });
}

}  // namespace kernwave::testing
