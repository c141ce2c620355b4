#include "simt/watch.h"

#include <algorithm>
#include <bit>

#include "simt/runner.h"

namespace simt {

constinit thread_local Watch* watching = nullptr;

Watch::Watch(std::uint64_t most_calls, const Hints& hints)
    : number_(std::make_unique<std::uint16_t[]>(slots)), hints_(hints), most_calls_(most_calls) {
  found_.reserve(most_found);
  sides_.reserve(most_found);
  touched_.reserve(most_found);
}

std::vector<Comparison> Watch::comparisons() const {
  std::vector<Comparison> all;
  std::ranges::copy_if(found_, std::back_inserter(all),
                       [](const Comparison& c) { return c.inside != c.where; });
  std::sort(all.begin(), all.end(),
            [](const Comparison& a, const Comparison& b) { return a.where < b.where; });
  return all;
}

// Null for a new one when the table is full.
Comparison* Watch::find(const void* where) {
  constexpr int shift = 64 - std::countr_zero(slots);
  std::size_t slot = reinterpret_cast<std::uintptr_t>(where) * 0x9e3779b97f4a7c15u >> shift;
  for (; number_[slot] != 0; slot = (slot + 1) % slots) {
    Comparison& known = found_[number_[slot] - 1u];
    if (known.where == where) return &known;
  }
  if (found_.size() == most_found) return nullptr;
  const bool is_in_helper = std::ranges::binary_search(hints_.in_helpers, where);
  found_.push_back(
      {.where = where, .inside = is_in_helper ? where : nullptr, .first_call = calls_});
  sides_.push_back({.is_branch = std::ranges::binary_search(hints_.branches, where)});
  number_[slot] = static_cast<std::uint16_t>(found_.size());
  return &found_.back();
}

Watch::Sides& Watch::sides_of(const Comparison& c) {
  return sides_[static_cast<std::size_t>(&c - found_.data())];
}

// Two comparisons of a helper are two of the line that calls it: their distance tells them apart.
Comparison* Watch::find_in_caller(Comparison& in_helper, const void* frame) {
  const auto* const helpers_frame = *static_cast<const void* const* const*>(frame);
  const auto caller = reinterpret_cast<std::uintptr_t>(helpers_frame[1]);
  const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(in_helper.where) - caller;
  const std::uintptr_t mark = (distance * 0x9e3779b97f4a7c15u >> 49) | 1;
  Comparison* const found = find(reinterpret_cast<const void*>(caller | mark << 48));
  if (found == nullptr) return nullptr;
  found->inside = in_helper.where;
  sides_of(*found).is_branch = sides_of(in_helper).is_branch;
  return found;
}

bool Watch::run(std::uint64_t most_calls, const std::function<void()>& host_code) {
  ++run_;
  touched_.clear();
  took_new_side_ = false;
  last_ = nullptr;
  end_of_run_ = calls_ + most_calls;
  sigjmp_buf here;
  leave_ = &here;
  const bool came_to_its_end = sigsetjmp(here, 0) == 0;
  if (came_to_its_end) host_code();
  leave_ = nullptr;
  return came_to_its_end && calls_ <= end_of_run_;
}

void Watch::end_host_code() {
  if (leave_ != nullptr) siglongjmp(*leave_, 1);
}

std::uint64_t Watch::path() const {
  std::uint64_t path = 0;
  for (const std::uint16_t i : touched_) {
    const Comparison& c = found_[i];
    const Sides& s = sides_[i];
    const int sides = s.then & (s.is_branch ? first_way | second_way : less | equal | greater);
    std::uint64_t h = reinterpret_cast<std::uintptr_t>(c.where) * 32 + static_cast<unsigned>(sides);
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    path += h ^ h >> 32;
  }
  return path;
}

void Watch::take(const Comparison& c, Side side) {
  Sides& sides = sides_of(c);
  if (sides.run != run_) {
    sides.run = run_, sides.then = 0;
    touched_.push_back(static_cast<std::uint16_t>(&c - found_.data()));
  }
  took_new_side_ |= (sides.ever & side) == 0;
  sides.then |= side, sides.ever |= side;
}

// Ends the kernel that used up its calls, or the run on the host that used up all overtime.
void Watch::count(std::uint64_t calls) {
  calls_ += calls;
  if (leave_ != nullptr && calls_ > end_of_run_) {
    if (overtime_left_ < calls) end_host_code();
    overtime_left_ -= calls;
  }
  if (calls_ < most_calls_) return;
  if (active_runner != nullptr && active_runner->in_kernel())
    active_runner->abandon({.kind = FaultKind::never_ends});
}

void Watch::touch(std::size_t bytes) { count(bytes / 64); }

void Watch::enter_block(const void* block) {
  if (last_ != nullptr) {
    auto& ways = last_->ways;
    if (ways[0] == nullptr) {
      ways[0] = block;
    } else if (ways[0] != block) {
      ways[1] = block;
    }
    if (leave_ != nullptr) take(*last_, ways[0] == block ? first_way : second_way);
    last_ = nullptr;
  }
  count();
}

void Watch::compare(const void* where, const void* frame, Comparison::Kind kind, int bytes,
                    double value, double other, bool with_constant) {
  Comparison* found = find(where);
  if (found != nullptr && found->inside == where) found = find_in_caller(*found, frame);
  last_ = found;
  if (found == nullptr) return;
  found->kind = kind;
  found->bytes = bytes;
  found->with_constant = with_constant;
  if (with_constant) found->constant = other;
  found->least = std::min(found->least, value);
  found->greatest = std::max(found->greatest, value);
  if (!with_constant) {
    found->least_other = std::min(found->least_other, other);
    found->greatest_other = std::max(found->greatest_other, other);
  }
  const double difference = value - other;
  if (difference < 0) found->below = std::max(found->below, difference);
  if (difference > 0) found->above = std::min(found->above, difference);
  if (value == other) found->equal = true;
  if (leave_ != nullptr) take(*found, difference < 0 ? less : difference > 0 ? greater : equal);
}

void Watch::choose(const void* where, double value, std::span<const std::uint64_t> labels) {
  Comparison* const found = last_ = find(where);
  if (found == nullptr) return;
  found->kind = Comparison::Kind::switches;
  found->labels = labels;
  found->least = std::min(found->least, value);
  found->greatest = std::max(found->greatest, value);
}

}  // namespace simt

// What watched code calls, by names that the compiler chose.

namespace {

using simt::Comparison;
using simt::watching;

template <class Signed>
inline void whole_numbers(const void* where, const void* frame, Signed value, Signed other,
                          bool with_constant) {
  watching->compare(where, frame, Comparison::Kind::whole_numbers, sizeof(Signed),
                    static_cast<double>(value), static_cast<double>(other), with_constant);
}
inline void floats(const void* where, const void* frame, int bytes, double value, double other) {
  watching->compare(where, frame, Comparison::Kind::floats, bytes, value, other, false);
}

}  // namespace

extern "C" {

void __sanitizer_cov_trace_pc() {
  if (watching != nullptr) watching->enter_block(__builtin_return_address(0));
}

// The compiler gives the constant first.
#define HERE __builtin_return_address(0), __builtin_frame_address(0)
#define WATCH_WHOLE_NUMBERS(BYTES, TYPE)                                   \
  void __sanitizer_cov_trace_cmp##BYTES(TYPE a, TYPE b) {                  \
    if (watching != nullptr) whole_numbers(HERE, a, b, false);             \
  }                                                                        \
  void __sanitizer_cov_trace_const_cmp##BYTES(TYPE constant, TYPE value) { \
    if (watching != nullptr) whole_numbers(HERE, value, constant, true);   \
  }
WATCH_WHOLE_NUMBERS(1, std::int8_t)
WATCH_WHOLE_NUMBERS(2, std::int16_t)
WATCH_WHOLE_NUMBERS(4, std::int32_t)
WATCH_WHOLE_NUMBERS(8, std::int64_t)

void __sanitizer_cov_trace_cmpf(float a, float b) {
  if (watching != nullptr) floats(HERE, sizeof a, a, b);
}
void __sanitizer_cov_trace_cmpd(double a, double b) {
  if (watching != nullptr) floats(HERE, sizeof a, a, b);
}
// Two numbers stand before the labels: how many there are, and the bits of each.
void __sanitizer_cov_trace_switch(std::uint64_t value, const std::uint64_t* labels) {
  if (watching == nullptr) return;
  watching->choose(__builtin_return_address(0),
                   static_cast<double>(static_cast<std::int64_t>(value)), {labels + 2, labels[0]});
}

}  // extern "C"
