#include "ptx/machine/bits/results.h"

#include <algorithm>
#include <cstddef>

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

// A slot or a predicate that an operation reads or writes.
struct Where {
  int number = 0;
  bool is_wide = false, is_predicate = false;
  bool operator==(const Where&) const = default;
};
uint64_t value_at(const Warp& w, const Where& p, int lane) {
  if (p.is_predicate) return w.predicates[p.number] >> lane & 1;
  return p.is_wide ? w.slot<uint64_t>(p.number)[lane] : w.slot<uint32_t>(p.number)[lane];
}
void put_at(Warp& w, const Where& p, int lane, uint64_t value) {
  if (p.is_predicate) {
    uint32_t& lanes = w.predicates[p.number];
    lanes = (lanes & ~(1u << lane)) | static_cast<uint32_t>(value & 1) << lane;
  } else if (p.is_wide) {
    w.slot<uint64_t>(p.number)[lane] = value;
  } else {
    w.slot<uint32_t>(p.number)[lane] = static_cast<uint32_t>(value);
  }
}
uint64_t unwritten_at(const Warp& w, const Where& p, int lane) {
  if (p.is_predicate) return w.predicate_taint[static_cast<std::size_t>(p.number)] >> lane & 1;
  const uint64_t bits = unwritten_of(w, p.number, lane);
  return p.is_wide ? bits : static_cast<uint32_t>(bits);
}

// What lies at a place, to be put back.
class Saved {
 public:
  Saved(const Warp& w, const Where& place) : place_(place) {
    for (int lane = 0; lane < warp_size; ++lane) values_[lane] = value_at(w, place, lane);
  }
  void put_back(Warp& w) const {
    for (int lane = 0; lane < warp_size; ++lane) put_at(w, place_, lane, values_[lane]);
  }
  const Where& place() const { return place_; }
  uint64_t operator[](int lane) const { return values_[lane]; }

 private:
  Where place_;
  uint64_t values_[warp_size];
};

// Of an operation, by its letters: those that it has none for are of 32 bits.
struct Operands {
  std::vector<Where> data;       // each once
  std::vector<Where> say_where;  // which bits go where
  std::vector<Where> results;
};
Operands operands_of(const Op* op, const Uses& uses) {
  Operands all;
  const std::string letters = uses.operands;
  const auto is_wide = [&](std::size_t n) { return n < letters.size() && letters[n] == 'x'; };
  for (std::size_t n = 0; n < uses.reads.size(); ++n) {
    const Where place = {.number = uses.reads[n], .is_wide = is_wide(n + 1)};
    auto& to = n < uses.follows.data ? all.data : all.say_where;
    if (std::find(to.begin(), to.end(), place) == to.end()) to.push_back(place);
  }
  const std::size_t guards = op->guard >= 0 ? 1 : 0;  // it comes last
  for (std::size_t n = 0; n + guards < uses.predicates_read.size(); ++n) {
    const Where place = {.number = uses.predicates_read[n], .is_predicate = true};
    if (std::find(all.data.begin(), all.data.end(), place) == all.data.end())
      all.data.push_back(place);
  }
  for (const int slot : uses.writes) all.results.push_back({.number = slot, .is_wide = is_wide(0)});
  for (const int p : uses.predicates_written)
    all.results.push_back({.number = p, .is_predicate = true});
  return all;
}

bool is_tainted(const Warp& w, const Where& p) {
  for (int lane = 0; lane < warp_size; ++lane)
    if (unwritten_at(w, p, lane) != 0) return true;
  return false;
}

// Runs the operation with the unwritten bits of each operand all zeros and all ones, in every
// combination: a bit that is always the same is written. Numbers with a sign are least where that
// is set.
void try_out(const Op* op, Warp& w, const std::vector<Where>& data, const Where& result,
             uint64_t sign, uint64_t (&differs)[warp_size]) {
  const Op& plain = w.block->run->kernel.code[static_cast<std::size_t>(op - w.code)];
  const Saved result_before(w, result);
  std::vector<Saved> changed;
  for (const Where& place : data)
    if (is_tainted(w, place)) changed.emplace_back(w, place);
  uint64_t first[warp_size];
  for (uint32_t ones = 0; ones < 1u << changed.size(); ++ones) {
    for (std::size_t n = 0; n < changed.size(); ++n)
      for (int lane = 0; lane < warp_size; ++lane) {
        const uint64_t unwritten = unwritten_at(w, changed[n].place(), lane);
        const uint64_t set = ((ones >> n & 1) != 0 ? unwritten : 0) ^ (unwritten & sign);
        put_at(w, changed[n].place(), lane, (changed[n][lane] & ~unwritten) | set);
      }
    plain.run(&plain, w);
    for (int lane = 0; lane < warp_size; ++lane) {
      const uint64_t value = value_at(w, result, lane);
      if (ones == 0) first[lane] = value;
      differs[lane] |= value ^ first[lane];
    }
    result_before.put_back(w);
    for (const Saved& operand : changed) operand.put_back(w);
  }
}

uint64_t low_bits(int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

// Into a place more is carried the more bits below are set: what is carried where none of the
// unwritten ones is, and where all are, is carried for certain.
uint64_t unwritten_of_sum(uint64_t a, uint64_t unwritten_a, uint64_t b, uint64_t unwritten_b,
                          uint64_t one_more) {
  const uint64_t least_a = a & ~unwritten_a, least_b = b & ~unwritten_b;
  const uint64_t most_a = a | unwritten_a, most_b = b | unwritten_b;
  const uint64_t least = (least_a + least_b + one_more) ^ least_a ^ least_b;
  const uint64_t most = (most_a + most_b + one_more) ^ most_a ^ most_b;
  return unwritten_a | unwritten_b | (least ^ most);
}

// Of rules that a lane's operands alone settle.
uint64_t unwritten_of_result(const Op* op, const Warp& w, const Uses& uses, int lane) {
  const Following& follows = uses.follows;
  uint64_t values[3] = {}, unwritten[3] = {}, any = 0;
  for (std::size_t n = 0; n < uses.reads.size() && n < 3; ++n) {
    const bool is_wide = uses.operands[0] != 0 && uses.operands[n + 1] == 'x';
    const Where place = {.number = uses.reads[n], .is_wide = is_wide};
    values[n] = value_at(w, place, lane);
    unwritten[n] = unwritten_at(w, place, lane);
    if (!is_wide && follows.rule != BitRule::by_halves) unwritten[n] &= low_bits(follows.bits);
    any |= unwritten[n];
  }
  if (any == 0) return 0;
  switch (follows.rule) {
    case BitRule::sum: return unwritten_of_sum(values[0], unwritten[0], values[1], unwritten[1], 0);
    case BitRule::difference:
      return unwritten_of_sum(values[0], unwritten[0], ~values[1], unwritten[1], 1);
    case BitRule::upwards: return ~((any & (~any + 1)) - 1);
    case BitRule::by_halves: {
      const bool is_pair = op->parts == 2 || follows.bits == 32;
      return ((any & 0xffff) != 0 ? 0xffff : 0) |
             (is_pair && (any & 0xffff0000) != 0 ? 0xffff0000 : 0);
    }
    case BitRule::equality: {
      const uint64_t differ = (values[0] ^ values[1]) & ~any & low_bits(follows.bits);
      return differ != 0 ? 0 : any;
    }
    default: return any;
  }
}

}  // namespace

void make_room_for_unwritten(Warp& w) { w.unwritten.resize(w.taint.size() * warp_size); }

void set_unwritten(Warp& w, int slot, int lane, uint64_t bits) {
  const auto n = static_cast<std::size_t>(slot);
  w.taint[n] = (w.taint[n] & ~(1u << lane)) | uint32_t{bits != 0} << lane;
  if (bits != 0) w.unwritten[n * warp_size + static_cast<std::size_t>(lane)] = bits;
}

ResultBits results_of(const Op* op, Warp& w, const Uses& uses, uint32_t active, uint32_t tainted) {
  ResultBits results;
  const Following& follows = uses.follows;
  const Operands all = operands_of(op, uses);
  if (tainted == 0 || all.results.empty()) return results;
  if (op->guard >= 0)
    results.whole = w.predicate_taint[static_cast<std::size_t>(op->guard)] & active;
  for (const Where& place : all.say_where)
    for (int lane = 0; lane < warp_size; ++lane)
      results.whole |= uint32_t{unwritten_at(w, place, lane) != 0} << lane & active;
  switch (follows.rule) {
    case BitRule::whole: results.whole |= follows.across ? active : tainted; break;
    case BitRule::by_place: try_out(op, w, all.data, all.results[0], 0, results.of); break;
    case BitRule::order:
      try_out(op, w, all.data, all.results[0],
              follows.is_signed ? uint64_t{1} << (follows.bits - 1) : 0, results.of);
      break;
    case BitRule::likeness:
      results.whole |= tainted;
      std::fill(std::begin(results.of), std::end(results.of), tainted);
      break;
    default:
      for (int lane = 0; lane < warp_size; ++lane)
        results.of[lane] = unwritten_of_result(op, w, uses, lane);
  }
  for (int lane = 0; lane < warp_size; ++lane)
    if ((results.whole >> lane & 1) != 0) results.of[lane] = ~uint64_t{0};
  return results;
}

void lanes_shuffled_from(const Op* op, Warp& w, int (&from)[warp_size]) {
  const Op& plain = w.block->run->kernel.code[static_cast<std::size_t>(op - w.code)];
  const Saved value(w, {.number = op->a}), result(w, {.number = op->d});
  for (int lane = 0; lane < warp_size; ++lane)
    put_at(w, value.place(), lane, static_cast<uint64_t>(lane));
  plain.run(&plain, w);
  for (int lane = 0; lane < warp_size; ++lane) {
    const uint64_t number = value_at(w, result.place(), lane);
    from[lane] = number < warp_size ? static_cast<int>(number) : lane;
  }
  result.put_back(w);
  value.put_back(w);
}

}  // namespace ptx
