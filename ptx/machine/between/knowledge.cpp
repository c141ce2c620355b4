#include "ptx/machine/between/knowledge.h"

#include "ptx/machine/shared_shadow.h"

#include <algorithm>
#include <iterator>

namespace ptx {

using std::uint32_t;
using std::uint64_t;

namespace {

constexpr uint64_t keys_of_a_block = Knowledge::first_thread + stamp::lanes_of;

// The place in a sorted list where an entry with this key is, or would be.
template <class List, class Key>
auto place_of(List& list, const Key& key) {
  return std::lower_bound(list.begin(), list.end(), key,
                          [](const auto& entry, const Key& k) { return entry.first < k; });
}

// The second part of such an entry, which is 0 where there was none.
template <class List, class Key>
auto& value_of(List& list, const Key& key) {
  auto at = place_of(list, key);
  if (at == list.end() || at->first != key) at = list.insert(at, {key, {}});
  return at->second;
}

// Whether the list has grown, or an entry has got later.
template <class List>
bool merge(List& list, const List& more) {
  bool changed = false;
  std::size_t missing = 0;
  auto at = list.begin();
  for (const auto& [key, value] : more) {
    while (at != list.end() && at->first < key) ++at;
    if (at == list.end() || at->first != key) {
      ++missing;
    } else if (at->second < value) {
      at->second = value;
      changed = true;
    }
  }
  if (missing == 0) return changed;
  List both;
  both.reserve(list.size() + missing);
  std::set_union(list.begin(), list.end(), more.begin(), more.end(), std::back_inserter(both),
                 [](const auto& a, const auto& b) { return a.first < b.first; });
  list = std::move(both);
  return true;
}

}  // namespace

void Knowledge::clear() {
  own_.clear();
  heard_.clear();
  ++version_;
}

void Knowledge::learn(uint64_t block, uint64_t whose, uint32_t time) {
  ++version_;
  uint32_t& known = value_of(own_, block * keys_of_a_block + whose);
  known = std::max(known, time);
}

void Knowledge::learn(uint64_t block, const std::vector<uint32_t>& times) {
  ++version_;
  auto at = place_of(own_, block * keys_of_a_block + first_warp);
  for (std::size_t warp = 0; warp < times.size(); ++warp) {
    if (times[warp] == 0) continue;
    const uint64_t key = block * keys_of_a_block + first_warp + warp;
    while (at != own_.end() && at->first < key) ++at;
    if (at == own_.end() || at->first != key) at = own_.insert(at, {key, 0});
    at->second = std::max(at->second, times[warp]);
  }
}

void Knowledge::learn(const Knowledge& more) {
  const bool learnt = merge(own_, more.own_), heard = merge(heard_, more.heard_);
  if (learnt || heard) ++version_;
}

bool Knowledge::has_heard(const Told& told) const {
  const auto at = place_of(heard_, &told);
  return at != heard_.end() && at->first == &told && at->second == told.times_;
}

void Knowledge::hear(const Told& told) {
  for (const Told* one : told.once_) hear_alone(*one);
  hear_alone(told);
}

void Knowledge::hear_alone(const Told& told) {
  if (told.times_ == 0) return;
  std::size_t& so_far = value_of(heard_, &told);
  if (so_far == told.times_) return;
  so_far = told.times_;
  ++version_;
}

bool Knowledge::visit(uint64_t block, const Visit& call) const {
  const uint64_t first = block * keys_of_a_block;
  for (auto one = place_of(own_, first); one != own_.end() && one->first - first < keys_of_a_block;
       ++one)
    if (call(one->first - first, one->second)) return true;
  const auto visit_told = [&](const Heard& heard) {
    const auto found = heard.first->blocks_.find(block);
    if (found == heard.first->blocks_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const auto& known) {
      const auto time = static_cast<uint32_t>(Told::latest(known.second, heard.second));
      return time != 0 && call(known.first, time);
    });
  };
  // Mostly it is found where it was told first.
  if (std::any_of(heard_.begin(), heard_.end(), visit_told)) return true;
  // Whoever told there may have heard it elsewhere.
  std::vector<Heard> all = heard_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [told, so_far] = all[i];
    const bool is_superseded = std::any_of(all.begin(), all.end(), [&](const Heard& other) {
      return other.first == told && other.second > so_far;
    });
    if (is_superseded) continue;
    if (i >= heard_.size() && visit_told(all[i])) return true;
    for (const auto& [other, course] : told->heard_) {
      const std::size_t heard = Told::latest(course, so_far);
      const bool is_new = heard != 0 && std::none_of(all.begin(), all.end(), [&](const Heard& one) {
                            return one.first == other && one.second >= heard;
                          });
      if (is_new) all.emplace_back(other, heard);
    }
  }
  return false;
}

bool Knowledge::knows(uint64_t block, uint32_t s) const {
  const uint64_t warp = first_warp + stamp::warp(s), thread = first_thread + stamp::thread(s);
  return !empty() && visit(block, [&](uint64_t whose, uint32_t known) {
    return (whose == all || whose == warp || whose == thread) && stamp::time(s) < known;
  });
}

void Told::tell(const Knowledge& known) {
  bool added = false;
  for (const auto& [key, time] : known.own_)
    added |= add(value_of(blocks_[key / keys_of_a_block], key % keys_of_a_block), time);
  for (const auto& [told, so_far] : known.heard_)
    if (told != this) added |= add(value_of(heard_, told), so_far);
  if (added) ++times_;
}

bool Told::is_room() const {
  constexpr std::size_t few = 4;
  return once_.size() < few;
}

void Told::tell(const Told& once) {
  if (std::find(once_.begin(), once_.end(), &once) == once_.end()) once_.push_back(&once);
}

bool Told::add(Course& course, std::size_t value) const {
  if (value == 0 || (!course.empty() && course.back().second >= value)) return false;
  course.emplace_back(times_, value);
  return true;
}

std::size_t Told::latest(const Course& course, std::size_t so_far) {
  const auto after = place_of(course, so_far);
  return after == course.begin() ? 0 : std::prev(after)->second;
}

}  // namespace ptx
