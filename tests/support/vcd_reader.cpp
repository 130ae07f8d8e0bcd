#include "tests/support/vcd_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace kernwave::testing {

namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : words_(text) {}

  [[nodiscard]] Vcd parse() {
    std::string word;
    while (words_ >> word) {
      if (word == "$dumpvars" || word == "$end") continue;  // the values between them are like any
      if (word.front() == '$') {
        section(word);
      } else if (word.front() == '#') {
        vcd_.stamps.emplace_back(std::stoll(word.substr(1)));
      } else {
        value(word);
      }
    }
    return std::move(vcd_);
  }

 private:
  [[nodiscard]] std::vector<std::string> until_end() {
    std::vector<std::string> words;
    for (std::string word; words_ >> word && word != "$end";) words.push_back(word);
    return words;
  }

  void section(const std::string& keyword) {
    const std::vector<std::string> words = until_end();
    if (keyword == "$timescale") {
      for (const std::string& word : words) vcd_.timescale += (vcd_.timescale.empty() ? "" : " ") + word;
    } else if (keyword == "$scope") {
      scopes_.push_back(words.at(1));
    } else if (keyword == "$upscope") {
      scopes_.pop_back();
    } else if (keyword == "$var") {
      declare(words);
    }
  }

  void declare(const std::vector<std::string>& words) {
    std::string name;
    for (const std::string& scope : scopes_) name += scope + ".";
    name += words.at(3);
    vcd_.names.push_back(name);
    vcd_.signals[name].width = std::stoi(words.at(1));
    EXPECT_TRUE(of_code_.emplace(words.at(2), name).second) << "code " << words.at(2) << " stands for two signals";
  }

  void value(const std::string& word) {
    std::string code = word.substr(1);
    std::string digits = word.substr(0, 1);
    if (word.front() == 'b') {
      digits = word.substr(1);
      words_ >> code;
    }
    const auto found = of_code_.find(code);
    if (found == of_code_.end() || digits.empty() || digits.find_first_not_of("01") != std::string::npos ||
        vcd_.stamps.empty()) {
      ADD_FAILURE() << "not a value of a signal at a time: " << word << " " << code;
      return;
    }
    vcd_.signals[found->second].changes.emplace_back(vcd_.stamps.back(), std::stoull(digits, nullptr, 2));
  }

  std::istringstream words_;
  std::vector<std::string> scopes_;
  std::map<std::string, std::string> of_code_;
  Vcd vcd_;
};

}  // namespace

std::uint64_t VcdSignal::at(Picoseconds time) const {
  std::uint64_t value = 0;
  for (const VcdChange& change : changes) {
    if (change.first <= time) value = change.second;
  }
  return value;
}

std::uint64_t VcdSignal::most() const {
  std::uint64_t most = 0;
  for (const VcdChange& change : changes) most = std::max(most, change.second);
  return most;
}

const VcdSignal& Vcd::signal(const std::string& name) const {
  static const VcdSignal none;
  const auto found = signals.find("SystemC." + name);
  if (found != signals.end()) return found->second;
  ADD_FAILURE() << "no signal " << name;
  return none;
}

Picoseconds Vcd::integral(const std::string& name) const {
  const std::vector<VcdChange>& changes = signal(name).changes;
  Picoseconds sum;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Picoseconds end = i + 1 < changes.size() ? changes[i + 1].first : stamps.back();
    sum += (end - changes[i].first) * static_cast<std::int64_t>(changes[i].second);
  }
  return sum;
}

Vcd parse_vcd(const std::string& text) { return Parser(text).parse(); }

}  // namespace kernwave::testing
