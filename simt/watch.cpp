#include "simt/watch.h"

#include <algorithm>
#include <bit>

#include "simt/runner.h"

namespace simt {

constinit thread_local Watch* watching = nullptr;

Watch::Watch(std::uint64_t most_calls)
    : found_(std::make_unique<Comparison[]>(slots)), most_calls_(most_calls) {}

std::vector<Comparison> Watch::comparisons() const {
  std::vector<Comparison> all;
  std::copy_if(found_.get(), found_.get() + slots, std::back_inserter(all),
               [](const Comparison& c) { return c.where != nullptr; });
  std::sort(all.begin(), all.end(),
            [](const Comparison& a, const Comparison& b) { return a.where < b.where; });
  return all;
}

// Null for a new one when the table is full.
Comparison* Watch::find(const void* where) {
  constexpr int shift = 64 - std::countr_zero(slots);
  std::size_t slot = reinterpret_cast<std::uintptr_t>(where) * 0x9e3779b97f4a7c15u >> shift;
  while (found_[slot].where != where) {
    if (found_[slot].where == nullptr) {
      if (taken_ == slots / 2) return nullptr;
      ++taken_;
      found_[slot].where = where;
      found_[slot].first_call = calls_;
      break;
    }
    slot = (slot + 1) % slots;
  }
  return &found_[slot];
}

// Ends the kernel that used up its calls. Code of the host cannot be ended from here.
void Watch::count(std::uint64_t calls) {
  calls_ += calls;
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
    last_ = nullptr;
  }
  count();
}

void Watch::compare(const void* where, Comparison::Kind kind, int bytes, double value, double other,
                    bool with_constant) {
  Comparison* const found = last_ = find(where);
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
inline void whole_numbers(const void* where, Signed value, Signed other, bool with_constant) {
  watching->compare(where, Comparison::Kind::whole_numbers, sizeof(Signed),
                    static_cast<double>(value), static_cast<double>(other), with_constant);
}
inline void floats(const void* where, int bytes, double value, double other) {
  watching->compare(where, Comparison::Kind::floats, bytes, value, other, false);
}

}  // namespace

extern "C" {

void __sanitizer_cov_trace_pc() {
  if (watching != nullptr) watching->enter_block(__builtin_return_address(0));
}

// The compiler gives the constant first.
#define WATCH_WHOLE_NUMBERS(BYTES, TYPE)                                                        \
  void __sanitizer_cov_trace_cmp##BYTES(TYPE a, TYPE b) {                                       \
    if (watching != nullptr) whole_numbers(__builtin_return_address(0), a, b, false);           \
  }                                                                                             \
  void __sanitizer_cov_trace_const_cmp##BYTES(TYPE constant, TYPE value) {                      \
    if (watching != nullptr) whole_numbers(__builtin_return_address(0), value, constant, true); \
  }
WATCH_WHOLE_NUMBERS(1, std::int8_t)
WATCH_WHOLE_NUMBERS(2, std::int16_t)
WATCH_WHOLE_NUMBERS(4, std::int32_t)
WATCH_WHOLE_NUMBERS(8, std::int64_t)

void __sanitizer_cov_trace_cmpf(float a, float b) {
  if (watching != nullptr) floats(__builtin_return_address(0), sizeof a, a, b);
}
void __sanitizer_cov_trace_cmpd(double a, double b) {
  if (watching != nullptr) floats(__builtin_return_address(0), sizeof a, a, b);
}
// Two numbers stand before the labels: how many there are, and the bits of each.
void __sanitizer_cov_trace_switch(std::uint64_t value, const std::uint64_t* labels) {
  if (watching == nullptr) return;
  watching->choose(__builtin_return_address(0),
                   static_cast<double>(static_cast<std::int64_t>(value)), {labels + 2, labels[0]});
}

}  // extern "C"
