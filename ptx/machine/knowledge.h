// What happened in other blocks before something here: everything in a block before a time, and
// everything by one of its warps before a time. Blocks that share a barrier tell each other all
// that they know, again and again: so it is a sorted list, which another one is merged into.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace ptx {

class Knowledge {
 public:
  // The block times 64, plus 0 for all of it or 1 + the warp; and the time.
  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  using const_iterator = std::vector<Entry>::const_iterator;

  const_iterator begin() const { return all_.begin(); }
  const_iterator end() const { return all_.end(); }
  bool empty() const { return all_.empty(); }
  void clear() {
    all_.clear();
    ++version_;
  }
  // Another one whenever something may have been added.
  std::uint64_t version() const { return version_; }

  const_iterator lower_bound(std::uint64_t key) const {
    return std::lower_bound(all_.begin(), all_.end(), key, is_before);
  }
  const_iterator find(std::uint64_t key) const {
    const auto at = lower_bound(key);
    return at != all_.end() && at->first == key ? at : all_.end();
  }
  std::uint32_t& operator[](std::uint64_t key) {
    ++version_;
    auto at = std::lower_bound(all_.begin(), all_.end(), key, is_before);
    if (at == all_.end() || at->first != key) at = all_.insert(at, Entry{key, 0});
    return at->second;
  }

  // Times of keys beside each other, from `first` on, where they are later; 0 is none.
  void learn(std::uint64_t first, const std::vector<std::uint32_t>& times) {
    std::size_t at = static_cast<std::size_t>(lower_bound(first) - begin());
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      const std::uint64_t key = first + i;
      while (at < all_.size() && all_[at].first < key) ++at;
      if (at == all_.size() || all_[at].first != key)
        all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), Entry{key, 0});
      all_[at].second = std::max(all_[at].second, times[i]);
    }
    ++version_;
  }

  void learn(const Knowledge& more) {
    std::size_t missing = 0;
    bool is_later = false;
    auto at = all_.begin();
    for (const auto& [key, time] : more.all_) {
      while (at != all_.end() && at->first < key) ++at;
      if (at == all_.end() || at->first != key) {
        ++missing;
      } else if (at->second < time) {
        at->second = time;
        is_later = true;
      }
    }
    if (missing != 0 || is_later) ++version_;
    if (missing == 0) return;
    std::vector<Entry> both;
    both.reserve(all_.size() + missing);
    std::set_union(all_.begin(), all_.end(), more.all_.begin(), more.all_.end(),
                   std::back_inserter(both),
                   [](const Entry& a, const Entry& b) { return a.first < b.first; });
    all_ = std::move(both);
  }

 private:
  static bool is_before(const Entry& entry, std::uint64_t key) { return entry.first < key; }

  std::vector<Entry> all_;
  std::uint64_t version_ = 1;
};

inline void learn(Knowledge& known, const Knowledge& more) { known.learn(more); }

}  // namespace ptx
