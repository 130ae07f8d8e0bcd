// Owners of modules and ports that destroy them in reverse order of construction.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/systemc.h"

namespace kernwave {

/// Several objects of one type, in the order in which they were constructed, the last of which is destroyed first.
///
/// When an object is destroyed, SystemC searches its registries for it from the end. In reverse order each object is
/// found at once; a std::vector destroys from the front, so that n objects take n x n steps.
template <typename T>
class InReverse {
 public:
  InReverse() = default;
  InReverse(const InReverse&) = delete;
  InReverse& operator=(const InReverse&) = delete;
  ~InReverse() {
    while (!objects_.empty()) objects_.pop_back();
  }

  template <typename... Arguments>
  T& add(Arguments&&... arguments) {
    objects_.push_back(std::make_unique<T>(std::forward<Arguments>(arguments)...));
    return *objects_.back();
  }
  /// Throws std::out_of_range.
  [[nodiscard]] T& at(std::size_t index) const { return *objects_.at(index); }
  [[nodiscard]] T& operator[](std::size_t index) const { return *objects_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }

  [[nodiscard]] auto begin() const noexcept { return objects_.begin(); }
  [[nodiscard]] auto end() const noexcept { return objects_.end(); }

 private:
  std::vector<std::unique_ptr<T>> objects_;
};

/// The same for modules of any types, in any order of construction; the caller keeps pointers to the modules that it
/// needs.
class ModulesInReverse {
 public:
  ModulesInReverse() = default;
  ModulesInReverse(const ModulesInReverse&) = delete;
  ModulesInReverse& operator=(const ModulesInReverse&) = delete;
  ~ModulesInReverse() {
    while (!modules_.empty()) modules_.pop_back();
  }

  template <typename Module, typename... Arguments>
  Module& add(Arguments&&... arguments) {
    auto module = std::make_unique<Module>(std::forward<Arguments>(arguments)...);
    Module& added = *module;
    modules_.push_back(std::move(module));
    return added;
  }

 private:
  std::vector<std::unique_ptr<sc_core::sc_module>> modules_;
};

}  // namespace kernwave
