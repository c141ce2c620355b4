#include "ptx/counts/joined_accesses.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "ptx/counts/classes.h"
#include "ptx/decode/slot_plan.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;
using std::int64_t;
using std::uint64_t;

// What is known of a value: its lowest `bits` bits are those of `value`.
struct LowBits {
  int bits = 0;
  uint64_t value = 0;
  bool operator==(const LowBits&) const = default;
};
LowBits low_bits(int bits, uint64_t value) {
  bits = std::clamp(bits, 0, 64);
  return {bits, bits == 64 ? value : value & ((uint64_t{1} << bits) - 1)};
}
constexpr LowBits unknown = {};
LowBits known(uint64_t value) { return low_bits(64, value); }
int zeros_of(const LowBits& a) {
  return a.value == 0 ? a.bits : std::min(a.bits, std::countr_zero(a.value));
}
// What two values have in common.
LowBits either(const LowBits& a, const LowBits& b) {
  return low_bits(std::min({a.bits, b.bits, std::countr_zero(a.value ^ b.value)}), a.value);
}
LowBits product(const LowBits& a, const LowBits& b) {
  const int za = zeros_of(a), zb = zeros_of(b);
  return low_bits(std::min(a.bits + zb, b.bits + za), a.value * b.value);
}
LowBits sum(const LowBits& a, const LowBits& b) {
  return low_bits(std::min(a.bits, b.bits), a.value + b.value);
}

// The low bits of every register, through all that computes addresses.
class KnownBits {
 public:
  KnownBits(const Function& f, const Module& module) : f_(f) {
    place(f.variables);
    place(module.variables);
    of_.assign(f.registers.size(), unknown);
    seen_.assign(f.registers.size(), false);
    // A register that several instructions write has what all of them agree on. What is not seen
    // yet agrees with everything: so loops settle, each register losing bits only.
    for (bool changes = true; changes;) {
      changes = false;
      for (const Instruction& i : f.body)
        for (const int r : access_of(i).writes) changes |= learn(r, result_of(i));
    }
  }
  LowBits of_address(const Operand& o) const {
    const LowBits base = o.index >= 0 ? of_[static_cast<std::size_t>(o.index)] : of_symbol(o.text);
    return sum(base, known(static_cast<uint64_t>(o.offset)));
  }

 private:
  // The assembler lays out shared memory from a place that is aligned well.
  void place(const std::vector<Variable>& variables) {
    for (const Variable& v : variables) {
      if (v.space != Space::shared) continue;
      const uint64_t align = std::max<uint64_t>(v.align, 1);
      if (v.is_extern || v.bytes == 0) {
        symbols_[v.name] = low_bits(std::countr_zero(align), 0);
        continue;
      }
      end_ = (end_ + align - 1) / align * align;
      symbols_[v.name] = low_bits(10, end_);
      end_ += v.bytes;
    }
  }
  LowBits of_symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? unknown : found->second;
  }
  bool learn(int r, const std::pair<bool, LowBits>& news) {
    if (!news.first) return false;
    const auto n = static_cast<std::size_t>(r);
    const LowBits now = seen_[n] ? either(of_[n], news.second) : news.second;
    const bool changes = !seen_[n] || !(now == of_[n]);
    seen_[n] = true;
    of_[n] = now;
    return changes;
  }

  // False: an operand is not known yet.
  std::pair<bool, LowBits> operand(const Operand& o) const {
    switch (o.kind) {
      case Kind::integer: return {true, known(o.bits)};
      case Kind::symbol:
        return {true, sum(of_symbol(o.text), known(static_cast<uint64_t>(o.offset)))};
      case Kind::reg:
        return {seen_[static_cast<std::size_t>(o.index)], of_[static_cast<std::size_t>(o.index)]};
      default: return {true, unknown};
    }
  }
  std::pair<bool, LowBits> result_of(const Instruction& i) const {
    LowBits in[3];
    for (std::size_t n = 1; n < i.operands.size() && n <= 3; ++n) {
      const auto [is_seen, bits] = operand(i.operands[n]);
      if (!is_seen) return {false, unknown};
      in[n - 1] = bits;
    }
    return {true, computed(i, in)};
  }
  LowBits computed(const Instruction& i, const LowBits (&in)[3]) const {
    const std::string& op = i.opcode;
    const auto has = [&](const char* m) {
      return std::find(i.modifiers.begin(), i.modifiers.end(), m) != i.modifiers.end();
    };
    const bool is_real = has("f32") || has("f64") || has("f16");
    if (is_real || i.operands.size() < 2) return unknown;
    if (op == "mov" || op == "cvta") return in[0];
    if (op == "cvt") return low_bits(std::min(in[0].bits, smallest_width(i)), in[0].value);
    if (op == "add") return sum(in[0], in[1]);
    if (op == "sub") return sum(in[0], negated(in[1]));
    if (op == "mul" && !has("hi")) return product(in[0], in[1]);
    if (op == "mad" && !has("hi")) return sum(product(in[0], in[1]), in[2]);
    if (op == "shl" && in[1].bits == 64)
      return in[1].value < 64
                 ? low_bits(in[0].bits + static_cast<int>(in[1].value), in[0].value << in[1].value)
                 : known(0);
    if (op == "and") {
      const int zeros = std::max(zeros_of(in[0]), zeros_of(in[1]));
      return low_bits(std::max(std::min(in[0].bits, in[1].bits), zeros), in[0].value & in[1].value);
    }
    if (op == "or") return low_bits(std::min(in[0].bits, in[1].bits), in[0].value | in[1].value);
    if (op == "xor") return low_bits(std::min(in[0].bits, in[1].bits), in[0].value ^ in[1].value);
    if (op == "selp") return either(in[0], in[1]);
    return unknown;
  }
  static LowBits negated(const LowBits& a) { return low_bits(a.bits, ~a.value + 1); }
  static int smallest_width(const Instruction& i) {
    int least = 64;
    for (const std::string& m : i.modifiers)
      for (const int width : {8, 16, 32})
        if (m.size() > 1 && m.substr(1) == std::to_string(width)) least = std::min(least, width);
    return least;
  }

  const Function& f_;
  std::map<std::string, LowBits> symbols_;
  uint64_t end_ = 0;
  std::vector<LowBits> of_;
  std::vector<bool> seen_;
};

class Joining {
 public:
  Joining(const Function& f, const Module& module)
      : f_(f),
        known_(f, module),
        joined_(f.body.size(), not_joined),
        begins_block_(f.body.size() + 1, false) {
    for (const Instruction& i : f.body)
      for (const Operand& o : i.operands)
        if (o.kind == Kind::label) begin_block(o.index);
    for (const auto& targets : f.branch_targets)
      for (const int target : targets) begin_block(target);
  }

  std::vector<int> all() {
    for (std::size_t n = 0; n < f_.body.size(); ++n) {
      const Instruction& i = f_.body[n];
      if (begins_block_[n] || ends_runs(i)) join_all();
      const bool of_shared = accesses_shared(i);
      if (of_shared && i.opcode == "st") take_store(n);
      if (of_shared && i.opcode != "st") take_load(n);
      for (const int r : access_of(i).writes) {
        join_base(loads_, {r, ""});
        join_base(stores_, {r, ""});
      }
    }
    join_all();
    return std::move(joined_);
  }

 private:
  using Row = std::map<int64_t, std::vector<std::size_t>>;  // instructions by their offset
  using Base = std::pair<int, std::string>;                 // of an address: a register or a name
  using Waiting = std::map<Base, Row>;

  void begin_block(int at) { begins_block_.at(static_cast<std::size_t>(at)) = true; }

  // Whether it branches, or lets others write shared memory.
  static bool ends_runs(const Instruction& i) {
    static const std::vector<std::string> ending = {
        "bra",    "brx",  "ret", "exit", "call",     "bar",      "barrier", "fence",
        "membar", "atom", "red", "cp",   "mbarrier", "stmatrix", "trap"};
    return std::find(ending.begin(), ending.end(), i.opcode) != ending.end();
  }
  static bool accesses_shared(const Instruction& i) {
    if (i.opcode != "ld" && i.opcode != "st" && i.opcode != "ldmatrix") return false;
    const Space space = space_of_access(i);
    return space == Space::shared || space == Space::generic;
  }
  static const Operand& address_of(const Instruction& i) {
    return i.operands[i.opcode == "st" ? 0 : 1];
  }
  static Base base_of(const Instruction& i) { return {address_of(i).index, address_of(i).text}; }
  static bool is_scalar(const Instruction& i) {
    if (i.opcode == "ldmatrix" || i.guard >= 0 || space_of_access(i) != Space::shared) return false;
    const Operand& value = i.operands[i.opcode == "st" ? 1 : 0];
    if (value.kind == Kind::vector || address_of(i).kind != Kind::address) return false;
    bool has_32_bits = false;
    for (const std::string& m : i.modifiers) {
      if (m == "volatile" || m == "relaxed" || m == "acquire" || m == "release") return false;
      has_32_bits |= m == "b32" || m == "u32" || m == "s32" || m == "f32";
    }
    return has_32_bits;
  }

  void take_load(std::size_t n) {
    const Instruction& i = f_.body[n];
    join_all(stores_);
    if (is_scalar(i)) loads_[base_of(i)][address_of(i).offset].push_back(n);
  }
  void take_store(std::size_t n) {
    const Instruction& i = f_.body[n];
    join_all(loads_);
    const bool goes_on = is_scalar(i) && stores_.size() == 1 && stores_.contains(base_of(i)) &&
                         !stores_[base_of(i)].contains(address_of(i).offset);
    if (!goes_on) join_all(stores_);
    if (is_scalar(i)) stores_[base_of(i)][address_of(i).offset].push_back(n);
  }

  void join_all() {
    join_all(loads_);
    join_all(stores_);
  }
  void join_all(Waiting& waiting) {
    for (auto& [base, row] : waiting) join(row);
    waiting.clear();
  }
  void join_base(Waiting& waiting, const Base& base) {
    const auto found = waiting.find(base);
    if (found == waiting.end()) return;
    join(found->second);
    waiting.erase(found);
  }
  // Four in an aligned row, else two.
  void join(Row& row) {
    for (const int count : {4, 2}) {
      for (auto first = row.begin(); first != row.end();) {
        const int64_t at = first->first;
        if (fits(row, at, count)) {
          join_at(row, at, count);
          first = row.lower_bound(at + 4 * count);
        } else {
          ++first;
        }
      }
    }
  }
  bool fits(const Row& row, int64_t at, int count) const {
    const auto first = row.find(at);
    const LowBits address = known_.of_address(address_of(f_.body[first->second.front()]));
    const uint64_t bytes = static_cast<uint64_t>(count) * 4;
    if (address.bits < std::countr_zero(bytes) || address.value % bytes != 0) return false;
    for (int n = 1; n < count; ++n)
      if (row.count(at + 4 * n) == 0) return false;
    return true;
  }
  // The first of the text stands for all.
  void join_at(Row& row, int64_t at, int count) {
    std::vector<std::size_t> joined;
    for (int n = 0; n < count; ++n) {
      auto& same = row[at + 4 * n];
      joined.push_back(same.front());
      same.erase(same.begin());
      if (same.empty()) row.erase(at + 4 * n);
    }
    for (const std::size_t instruction : joined) joined_[instruction] = 0;
    joined_[*std::min_element(joined.begin(), joined.end())] = 4 * count;
  }

  const Function& f_;
  KnownBits known_;
  std::vector<int> joined_;
  std::vector<bool> begins_block_;
  Waiting loads_, stores_;
};

}  // namespace

std::vector<int> joined_accesses(const Function& f, const Module& module) {
  return Joining(f, module).all();
}

}  // namespace ptx
