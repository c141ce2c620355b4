#include "ptx/machine/between/knowledge.h"

#include "ptx/machine/shared_shadow.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory_resource>
#include <unordered_map>

namespace ptx {

using std::uint32_t;
using std::uint64_t;

namespace {

constexpr uint64_t keys_of_a_block = Knowledge::first_thread + stamp::lanes_of;

// Of a warp that tells something; what it lets its own block know alone has another one.
constexpr uint64_t warps_of_a_block = 128;
uint64_t number_of(const Told::By& by) {
  return 1 + by.block * warps_of_a_block + 2 * static_cast<uint64_t>(by.warp) +
         (by.own_block_alone ? 1 : 0);
}

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
  latest_.clear();
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
  const bool learnt = merge(own_, more.own_), heard = merge(heard_, more.heard_),
             is_later = merge(latest_, more.latest_);
  if (learnt || heard || is_later) ++version_;
}

bool Knowledge::has_heard(const Told& told) const {
  if (told.warp_ != 0) {
    const auto its = place_of(latest_, told.warp_);
    return its != latest_.end() && its->first == told.warp_ && its->second.turn >= told.turn_;
  }
  const auto at = place_of(heard_, &told);
  return at != heard_.end() && at->first == &told && at->second == told.times_;
}

void Knowledge::hear(const Told& told) {
  for (const Told* one : told.once_) hear_alone(*one);
  hear_alone(told);
}

void Knowledge::hear_alone(const Told& told) {
  if (told.times_ == 0 || has_heard(told)) return;
  if (told.warp_ != 0) {
    value_of(latest_, told.warp_) = {told.turn_, &told};
    ++version_;
    return;
  }
  value_of(heard_, &told) = told.times_;
  ++version_;
}

// Through all that was heard, and what those who told it had heard before.
class Knowledge::Walk {
 public:
  Walk(uint64_t block, const Visit& call) : block_(block), call_(call) {}

  // Whether a visit ended it.
  bool visit(const Told& told, std::size_t so_far) const {
    const auto found = told.blocks_.find(block_);
    if (found == told.blocks_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const auto& known) {
      const auto time = static_cast<uint32_t>(Told::latest(known.second, so_far));
      return time != 0 && call_(known.first, time);
    });
  }
  // Of what is not visited, and does not lie in what is, remembers that it will be.
  bool add(const Told& told, std::size_t so_far) {
    std::size_t& seen = told.warp_ != 0 ? turns_[told.warp_] : times_[&told];
    const std::size_t now = told.warp_ != 0 ? told.turn_ : so_far;
    if (seen >= now) return false;
    seen = now;
    left_.emplace_back(&told, so_far);
    return true;
  }
  bool visit_what_tellers_heard() {
    while (!left_.empty()) {
      const auto [told, so_far] = left_.back();
      left_.pop_back();
      for (const auto& [other, course] : told->heard_) {
        const std::size_t heard = Told::latest(course, so_far);
        if (heard != 0 && add(*other, heard) && visit(*other, heard)) return true;
      }
    }
    return false;
  }

 private:
  const uint64_t block_;
  const Visit& call_;
  // Most walks are short, and there are many.
  std::array<std::byte, 4096> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::unordered_map<const Told*, std::size_t> times_{&memory_};
  std::pmr::unordered_map<uint64_t, std::size_t> turns_{&memory_};
  std::pmr::vector<Heard> left_{&memory_};
};

bool Knowledge::visit_learnt(uint64_t block, const Visit& call) const {
  const uint64_t first = block * keys_of_a_block;
  for (auto one = place_of(own_, first); one != own_.end() && one->first - first < keys_of_a_block;
       ++one)
    if (call(one->first - first, one->second)) return true;
  return false;
}

bool Knowledge::visit(uint64_t block, const Visit& call) const {
  if (visit_learnt(block, call)) return true;
  // Mostly it is found where the block itself told it, else where it was told first.
  Walk walk(block, call);
  const uint64_t own = number_of({.block = block});
  const auto its = place_of(latest_, own);
  for (auto one = its; one != latest_.end() && one->first - own < warps_of_a_block; ++one)
    if (walk.visit(*one->second.told, 1)) return true;
  for (const auto& [warp, last] : latest_)
    if (warp - own >= warps_of_a_block && walk.visit(*last.told, 1)) return true;
  for (const auto& [told, so_far] : heard_)
    if (walk.visit(*told, so_far)) return true;
  for (const auto& [_, last] : latest_) walk.add(*last.told, 1);
  for (const auto& [told, so_far] : heard_) walk.add(*told, so_far);
  return walk.visit_what_tellers_heard();
}

bool Knowledge::knows(uint64_t block, uint32_t s) const {
  const uint64_t warp = first_warp + stamp::warp(s), thread = first_thread + stamp::thread(s);
  return !empty() && visit(block, [&](uint64_t whose, uint32_t known) {
    return (whose == all || whose == warp || whose == thread) && stamp::time(s) < known;
  });
}

Told::Told(const By& by) : warp_(number_of(by)), turn_(by.turn) {}

void Told::tell(const Knowledge& known) {
  bool added = false;
  for (const auto& [key, time] : known.own_)
    added |= add(value_of(blocks_[key / keys_of_a_block], key % keys_of_a_block), time);
  for (const auto& [told, so_far] : known.heard_)
    if (told != this) added |= add(value_of(heard_, told), so_far);
  for (const auto& [_, last] : known.latest_) added |= add(value_of(heard_, last.told), 1);
  if (added) ++times_;
}

bool Told::is_room(std::size_t addresses) const {
  constexpr std::size_t many_addresses = 4096, few = 4, many = 4096;
  return once_.size() < (addresses < many_addresses ? few : many);
}

void Told::tell(const Told& once) {
  constexpr std::size_t looked_at = 8;  // an earlier one of the same warp does no harm
  const auto first = once_.end() - static_cast<std::ptrdiff_t>(std::min(looked_at, once_.size()));
  const auto its = std::find_if(first, once_.end(),
                                [&](const Told* told) { return told->warp_ == once.warp_; });
  if (its == once_.end())
    once_.push_back(&once);
  else if ((*its)->turn_ < once.turn_)
    *its = &once;
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
