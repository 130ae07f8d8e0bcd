#include "traces/checks/access_history.h"

#include <iterator>
#include <tuple>
#include <utility>

namespace kernwave::traces {

bool operator<(const Access& a, const Access& b) noexcept {
  const auto key = [](const Access& access) {
    return std::make_tuple(access.pe.count(), access.epoch, access.site, access.writes);
  };
  return key(a) < key(b);
}

AccessHistory::AccessHistory() : lists_(1), numbers_{{{}, 0}} {}

std::size_t AccessHistory::intervals() const noexcept {
  std::size_t count = 0;
  for (const auto& [number, page] : pages_) count += page.size();
  return count;
}

AccessHistory::Page& AccessHistory::page_of(std::int64_t byte) {
  const std::int64_t number = byte / page_size;
  if (number != last_number_) {
    last_page_ = &pages_[number];
    last_number_ = number;
  }
  return *last_page_;
}

AccessHistory::List AccessHistory::list_of(std::vector<Access> accesses) {
  std::sort(accesses.begin(), accesses.end());
  const auto [found, is_new] = numbers_.try_emplace(accesses, static_cast<List>(lists_.size()));
  if (is_new) lists_.push_back(std::move(accesses));
  return found->second;
}

void AccessHistory::append(const Interval& piece) {
  const bool goes_on = !pieces_.empty() && pieces_.back().end == piece.begin && pieces_.back().list == piece.list;
  if (goes_on) {
    pieces_.back().end = piece.end;
  } else {
    pieces_.push_back(piece);
  }
}

void AccessHistory::replace(Page& page, Page::iterator first, Page::iterator last) const {
  const auto room = static_cast<std::size_t>(last - first);
  const auto common = static_cast<std::ptrdiff_t>(std::min(room, pieces_.size()));
  std::copy_n(pieces_.begin(), common, first);
  if (room > pieces_.size()) {
    page.erase(std::next(first, common), last);
  } else {
    page.insert(last, std::next(pieces_.begin(), common), pieces_.end());
  }
}

}  // namespace kernwave::traces
