#include "ptx/watch/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ptx/decode/decoder.h"
#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
using Look = void (*)(Comparison&, const Op*, const Warp&);

// A kernel's operations, of which those that compare are looked at.
struct WatchedCode {
  struct Place {
    Look look = nullptr;
    Handler run = nullptr;
    std::vector<SourceLine> lines;
  };
  std::vector<Op> code;
  std::vector<std::uint32_t> number_of;  // in `places`, of each operation that compares
  std::vector<Place> places;
  std::vector<Comparison> comparisons;  // of each place, which have seen nothing
};

namespace {

using std::uint32_t;

const Op* watched(const Op* op, Warp& w) { return w.block->run->watch->look_and_run(op, w); }

void see(Comparison& c, double value, double other) {
  c.least = std::min(c.least, value);
  c.greatest = std::max(c.greatest, value);
  c.least_other = std::min(c.least_other, other);
  c.greatest_other = std::max(c.greatest_other, other);
  const double difference = value - other;
  if (difference < 0) c.below = std::max(c.below, difference);
  if (difference > 0) c.above = std::min(c.above, difference);
  c.equal |= value == other;
}

// What all lanes of a warp compare, in whole numbers that lose nothing as such of 64 bits.
template <class T>
void look_at_short(Comparison& c, const Op* op, const Warp& w) {
  using s64 = std::int64_t;
  constexpr s64 none = s64{1} << 40;  // farther than any two are
  const stored<T>*a = w.slot<stored<T>>(op->a), *b = w.slot<stored<T>>(op->b);
  s64 least = none, greatest = -none, least_other = none, greatest_other = -none, below = -none,
      above = none;
  bool equal = false;
  for (int i = 0; i < warp_size; ++i) {
    const bool on = w.lane_masks[i] != 0;
    const s64 value = static_cast<T>(a[i]), other = static_cast<T>(b[i]), far = value - other;
    least = std::min(least, on ? value : none);
    greatest = std::max(greatest, on ? value : -none);
    least_other = std::min(least_other, on ? other : none);
    greatest_other = std::max(greatest_other, on ? other : -none);
    below = std::max(below, on && far < 0 ? far : -none);
    above = std::min(above, on && far > 0 ? far : none);
    equal |= on && far == 0;
  }
  const auto lessen = [](double& to, s64 value) { to = std::min(to, static_cast<double>(value)); };
  const auto raise = [](double& to, s64 value) { to = std::max(to, static_cast<double>(value)); };
  lessen(c.least, least), raise(c.greatest, greatest);
  lessen(c.least_other, least_other), raise(c.greatest_other, greatest_other);
  if (below != -none) raise(c.below, below);
  if (above != none) lessen(c.above, above);
  c.equal |= equal;
}

template <class T>
void look(Comparison& c, const Op* op, const Warp& w) {
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) return look_at_short<T>(c, op, w);
  const stored<T>*a = w.slot<stored<T>>(op->a), *b = w.slot<stored<T>>(op->b);
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    see(c, static_cast<double>(static_cast<T>(a[lane])),
        static_cast<double>(static_cast<T>(b[lane])));
  }
}

// The operand that is a number of the text, if one is.
bool is_number(const Operand& o) {
  return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real;
}

// Of all operations of a setp, the one that compares.
bool compares(const Op& op, const Uses& uses) {
  return (op.flags & (loads | stores | selects)) == 0 && uses.reads.size() == 2 &&
         uses.writes.empty() && uses.predicates_written.size() == 1;
}

// A name for an operation of a kernel. Addresses would be other ones in the next process, and with
// them the order in which comparisons are driven, and so the cases. Room for four names is left
// behind each, and no address in use has the highest bit.
const void* name_of(const Program::Kernel& kernel, std::size_t operation) {
  constexpr int bits_of_operation = 24;
  const auto name = std::hash<std::string>{}(kernel.function.name) << bits_of_operation;
  return reinterpret_cast<const void*>(name | operation << 2 | std::uintptr_t{1} << 63);
}

// None of what the compiler compares on its own account: line 0 stands for that.
std::vector<SourceLine> places_of(const Program::Kernel& kernel, const Op& op) {
  std::vector<SourceLine> lines = lines_of(kernel, op);
  if (!lines.empty() && lines[0].line == 0) lines.clear();
  return lines;
}

Look look_for(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
    case Type::s16: return look<std::int16_t>;
    case Type::b32:
    case Type::u32:
    case Type::s32: return look<std::int32_t>;
    case Type::b64:
    case Type::u64:
    case Type::s64: return look<std::int64_t>;
    case Type::f32: return look<float>;
    case Type::f64: return look<double>;
    default: return nullptr;
  }
}

WatchedCode watched_code(const Program::Kernel& kernel) {
  WatchedCode made{.code = kernel.code};
  made.number_of.resize(kernel.code.size());
  // What was copied for several calls is one place; which function a pointer means, one for each.
  std::map<std::tuple<int, Handler, std::string>, uint32_t> numbers;
  for (std::size_t n = 0; n < made.code.size(); ++n) {
    Op& op = made.code[n];
    const auto from = static_cast<std::size_t>(op.from);
    if (from >= kernel.function.body.size()) continue;
    const Instruction& i = kernel.function.body[from];
    if (!compares(kernel.code[n], kernel.uses[n]) || i.opcode != "setp") continue;
    const Type type = type_of(i);
    const Operand& second = i.operands[i.two_results ? 3 : 2];
    const Look look = look_for(type);
    if (look == nullptr) continue;
    Handler& run = op.guard >= 0 ? op.behind_guard : op.run;
    const auto next = static_cast<uint32_t>(made.places.size());
    const auto [known, is_new] = numbers.insert({{i.line, run, second.text}, next});
    made.number_of[n] = known->second;
    if (!is_new) {
      run = watched;
      continue;
    }
    made.places.push_back({look, std::exchange(run, watched), places_of(kernel, kernel.code[n])});
    made.comparisons.push_back({.where = name_of(kernel, n),
                                .is_of_floats = type == Type::f32 || type == Type::f64,
                                .bytes = bytes_of(type),
                                .with_constant = is_number(second)});
  }
  return made;
}

std::shared_ptr<const WatchedCode> watched_code_of(const Program::Kernel& kernel) {
  std::call_once(kernel.watched_once, [&] {
    kernel.watched_code = std::make_shared<const WatchedCode>(watched_code(kernel));
  });
  return kernel.watched_code;
}

}  // namespace

Watch::Watch(const Program::Kernel& kernel, std::uint64_t most_calls)
    : watched_(watched_code_of(kernel)), seen_(watched_->comparisons), most_calls_(most_calls) {}

const Op* Watch::code() const { return watched_->code.data(); }

const Op* Watch::look_and_run(const Op* op, Warp& w) {
  const std::size_t number = watched_->number_of[static_cast<std::size_t>(op - code())];
  const WatchedCode::Place& place = watched_->places[number];
  Comparison& c = seen_[number];
  if (c.least > c.greatest) c.first_call = calls_ + 1;
  calls_ += static_cast<std::uint64_t>(std::popcount(w.mask));
  place.look(c, op, w);
  const Op* const next = place.run(op, w);
  const uint32_t holds = w.predicates[op->d] & w.mask;
  c.was_true |= holds != 0;
  c.was_false |= holds != w.mask;
  if (calls_ < most_calls_) return next;
  report(w, op, Fault::never_ends,
         fmt::format("{} compares for the {}th time", thread_text(w, std::countr_zero(w.mask)),
                     most_calls_));
  return nullptr;
}

Watched Watch::result() const {
  Watched result{.calls = calls_, .keeps_lines = watched_};
  const auto is_reached = [](const Comparison& c) { return c.first_call != 0; };
  result.comparisons.reserve(
      static_cast<std::size_t>(std::count_if(seen_.begin(), seen_.end(), is_reached)));
  for (std::size_t number = 0; number < seen_.size(); ++number) {
    if (!is_reached(seen_[number])) continue;
    result.comparisons.push_back(seen_[number]);
    Comparison& c = result.comparisons.back();
    c.lines = watched_->places[number].lines;
    if (c.with_constant) c.constant = c.least_other;
  }
  return result;
}

}  // namespace ptx
