#include "ptx/machine/shapes/shape.h"

#include <algorithm>
#include <bit>

namespace ptx {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr int64_t farthest = int64_t{1} << 30;

// Which words a shape touches, and by which lanes.
void find_words(Shape& s) {
  struct Word {
    uint32_t at;
    std::uint8_t lane;
  };
  std::vector<Word> words;
  const auto count = static_cast<uint32_t>(s.bytes) / 4;
  for (uint32_t left = s.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (uint32_t n = 0; n < count; ++n)
      words.push_back({s.offset[lane] / 4 + n, static_cast<std::uint8_t>(lane)});
  }
  const auto before = [](const Word& a, const Word& b) { return a.at < b.at; };
  if (!std::is_sorted(words.begin(), words.end(), before))
    std::stable_sort(words.begin(), words.end(), before);
  uint32_t last = ~0u;
  for (const Word& word : words) {
    const bool is_new = word.at != last;
    if (is_new && (s.runs.empty() || word.at != last + 1)) s.runs.push_back({word.at, 0});
    if (is_new) ++s.runs.back().words;
    if (s.windows.empty() || word.at >= s.windows.back().first + 8)
      s.windows.push_back({.first = word.at});
    Shape::Window& window = s.windows.back();
    window.wanted[word.at - window.first] = ~0u;
    window.lane[word.at - window.first] = is_new ? word.lane : Shape::several;
    s.is_disjoint &= is_new;
    last = word.at;
  }
}

void find_eights(Shape& s) {
  s.has_eights = true;
  for (uint32_t n = 0; n < 4; ++n) {
    Shape::EightLanes& eight = s.eights[n];
    uint32_t first = ~0u, end = 0;
    for (uint32_t i = 8 * n; i < 8 * n + 8; ++i) {
      if ((s.mask >> i & 1) == 0) continue;
      first = std::min(first, s.offset[i]);
      end = std::max(end, s.offset[i] + 4);
    }
    if (end == 0) continue;  // none of these lanes is on
    if (end - first > 32) {
      s.has_eights = false;
      return;
    }
    eight.first = first;
    for (uint32_t i = 0; i < 8; ++i) {
      if ((s.mask >> (8 * n + i) & 1) == 0) continue;
      const uint32_t word = (s.offset[8 * n + i] - first) / 4;
      eight.index[i] = static_cast<std::int32_t>(word);
      eight.wanted[word] = -1;
    }
  }
}

// Null if it is no shape to work with.
template <class Address>
std::unique_ptr<Shape> shape_of(const Address* at, uint32_t mask, int bytes) {
  auto s = std::make_unique<Shape>();
  s->mask = mask;
  s->lead = std::countr_zero(mask);
  s->bytes = bytes;
  const Address lead = at[s->lead];
  int64_t low = 0, high = 0;
  uint64_t bits = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto away =
        static_cast<int64_t>(static_cast<std::make_signed_t<Address>>(at[lane] - lead));
    if (away < -farthest || away > farthest) return nullptr;
    s->distance[lane] = static_cast<uint64_t>(away);
    s->short_distance[lane] = static_cast<uint32_t>(away);
    low = std::min(low, away);
    high = std::max(high, away);
    bits |= static_cast<uint64_t>(away);
  }
  if ((bits & static_cast<uint64_t>(bytes - 1)) != 0) return nullptr;
  s->low = low;
  s->span = static_cast<uint32_t>(high - low + bytes);
  s->is_row = mask == all_lanes;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    s->offset[lane] = static_cast<uint32_t>(static_cast<int64_t>(s->distance[lane]) - low);
    s->is_row &= s->offset[lane] == static_cast<uint32_t>(lane * bytes);
  }
  s->repeats = mask == all_lanes && std::equal(s->offset, s->offset + 16, s->offset + 16);
  find_words(*s);
  find_eights(*s);
  return s;
}

template <class Address>
bool is_shape_of(const Shape& s, const Address* at) {
  for (uint32_t left = s.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (static_cast<Address>(at[lane] - at[s.lead]) != static_cast<Address>(s.distance[lane]))
      return false;
  }
  return true;
}

template <class Address>
uint64_t hash_of(const Address* at, uint32_t mask, int bytes) {
  const Address lead = at[std::countr_zero(mask)];
  uint32_t sum = 0;
  for (uint32_t i = 0; i < warp_size; ++i) {
    const uint32_t on = 0u - (mask >> i & 1);
    sum += (static_cast<uint32_t>(at[i] - lead) & on) * (0x9e3779b1u + i * 0x85ebca6eu);
  }
  return (uint64_t{sum} << 32 | mask) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(bytes);
}

}  // namespace

template <class Address>
const Shape* Shapes::find(const Address* at, uint32_t mask, int bytes) {
  const uint64_t hash = hash_of(at, mask, bytes);
  const auto known = by_hash_.find(hash);
  if (known != by_hash_.end())
    for (const auto& s : known->second)
      if (s->mask == mask && s->bytes == bytes && is_shape_of(*s, at)) return s.get();
  if (count_ >= most) return nullptr;
  auto made = shape_of(at, mask, bytes);
  if (made == nullptr) return nullptr;
  ++count_;
  auto& same = by_hash_[hash];
  same.push_back(std::move(made));
  return same.back().get();
}
template const Shape* Shapes::find(const uint32_t*, uint32_t, int);
template const Shape* Shapes::find(const uint64_t*, uint32_t, int);

void Shapes::make_room() {
  if (count_ < most / 2) return;
  by_hash_.clear();
  count_ = 0;
}

}  // namespace ptx
