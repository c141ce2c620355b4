#include "ptx/decode/slot_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "ptx/decode/warpgroup/product_registers.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

void add_registers(const Operand& o, std::vector<int>& to) {
  if ((o.kind == Kind::reg || o.kind == Kind::address) && o.index >= 0) to.push_back(o.index);
  for (const Operand& element : o.elements) add_registers(element, to);
}

// Instructions without a result. Others write their first operand, unless it is an address.
bool writes_nothing(const Instruction& i) {
  static const std::set<std::string> none = {
      "st",         "bra",       "brx",     "ret",           "exit",     "bar",
      "barrier",    "membar",    "fence",   "red",           "trap",     "call",
      "prefetch",   "prefetchu", "discard", "applypriority", "cp",       "griddepcontrol",
      "setmaxnreg", "nanosleep", "brkpt",   "pmevent",       "stmatrix", "wgmma"};
  if (none.count(i.opcode) == 0) return false;
  // bar.red has a result, other barriers have none.
  if (i.opcode == "bar" || i.opcode == "barrier")
    return std::find(i.modifiers.begin(), i.modifiers.end(), "red") == i.modifiers.end();
  return true;
}

struct Block {
  int first = 0, end = 0;
  std::vector<int> next;
};

std::vector<Block> blocks_of(const Function& f) {
  const int size = static_cast<int>(f.body.size());
  std::set<int> starts = {0};
  for (const auto& [name, at] : f.labels) starts.insert(at);
  for (int i = 0; i < size; ++i) {
    const Instruction& instruction = f.body[static_cast<std::size_t>(i)];
    for (const Operand& o : instruction.operands)
      if (o.kind == Kind::label) starts.insert(o.index);
    if (instruction.opcode == "bra" || instruction.opcode == "brx" || instruction.opcode == "ret" ||
        instruction.opcode == "exit")
      starts.insert(i + 1);
  }
  for (const auto& list : f.branch_targets) starts.insert(list.begin(), list.end());
  std::vector<Block> blocks;
  std::map<int, int> block_at;
  for (auto start = starts.begin(); start != starts.end() && *start < size; ++start) {
    const auto after = std::next(start);
    block_at[*start] = static_cast<int>(blocks.size());
    blocks.push_back({*start, after == starts.end() ? size : std::min(*after, size), {}});
  }
  for (Block& b : blocks) {
    const Instruction& last = f.body[static_cast<std::size_t>(b.end - 1)];
    const auto to = [&](int at) {
      if (const auto found = block_at.find(at); found != block_at.end())
        b.next.push_back(found->second);
    };
    for (const Operand& o : last.operands)
      if (o.kind == Kind::label) to(o.index);
    if (last.opcode == "brx")
      for (const int at : f.branch_targets.at(static_cast<std::size_t>(last.operands[1].index)))
        to(at);
    const bool goes_on = (last.opcode != "bra" && last.opcode != "ret" && last.opcode != "exit" &&
                          last.opcode != "brx") ||
                         last.guard >= 0;
    if (goes_on) to(b.end);
  }
  return blocks;
}

// A set of registers, 64 to a word.
class Registers {
 public:
  explicit Registers(std::size_t count) : words_((count + 63) / 64) {}
  void insert(int r) { word(r) |= bit(r); }
  void erase(int r) { word(r) &= ~bit(r); }
  bool has(int r) const { return (words_[static_cast<std::size_t>(r) / 64] & bit(r)) != 0; }
  // Becomes uses + (out - defined); whether it grew.
  bool update(const Registers& uses, const Registers& out, const Registers& defined) {
    bool grew = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t now = uses.words_[i] | (out.words_[i] & ~defined.words_[i]);
      grew |= now != words_[i];
      words_[i] = now;
    }
    return grew;
  }
  void join(const Registers& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  template <class Each>
  void each(const Each& call) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        call(static_cast<int>(i * 64) + __builtin_ctzll(left));
  }

 private:
  static std::uint64_t bit(int r) { return std::uint64_t{1} << (r % 64); }
  std::uint64_t& word(int r) { return words_[static_cast<std::size_t>(r) / 64]; }
  std::vector<std::uint64_t> words_;
};

// From the first to the last instruction at which a register must keep its value.
struct Range {
  int first = -1, last = -1;
  void include(int at) {
    if (first < 0 || at < first) first = at;
    if (at > last) last = at;
  }
};

class Liveness {
 public:
  explicit Liveness(const Function& f) : f_(f), blocks_(blocks_of(f)), ranges(f.registers.size()) {
    const std::size_t count = f.registers.size();
    uses_.assign(blocks_.size(), Registers(count));
    defined_ = in_ = out_ = uses_;
    for (std::size_t b = 0; b < blocks_.size(); ++b) look_at(b);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = blocks_.size(); b-- > 0;) {
        for (const int next : blocks_[b].next) out_[b].join(in_[static_cast<std::size_t>(next)]);
        changed |= in_[b].update(uses_[b], out_[b], defined_[b]);
      }
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      in_[b].each([&](int r) { ranges[static_cast<std::size_t>(r)].include(blocks_[b].first); });
      out_[b].each([&](int r) { ranges[static_cast<std::size_t>(r)].include(blocks_[b].end - 1); });
    }
    if (!blocks_.empty()) in_[0].each([&](int r) { unset.push_back(r); });
  }

  // Calls `call` with the registers that must keep their values where a loop begins.
  template <class Call>
  void for_each_loop(const Call& call) const {
    std::set<int> begins;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const int next : blocks_[b].next)
        if (next <= static_cast<int>(b)) begins.insert(next);
    for (const int begin : begins) call(in_[static_cast<std::size_t>(begin)]);
  }

 private:
  void look_at(std::size_t b) {
    for (int i = blocks_[b].first; i < blocks_[b].end; ++i) {
      const Instruction& instruction = f_.body[static_cast<std::size_t>(i)];
      const Access access = access_of(instruction);
      for (const int r : access.reads) {
        ranges[static_cast<std::size_t>(r)].include(i);
        if (!defined_[b].has(r)) uses_[b].insert(r);
      }
      for (const int r : access.writes) {
        ranges[static_cast<std::size_t>(r)].include(i);
        if (instruction.guard < 0) defined_[b].insert(r);
      }
    }
  }

  const Function& f_;
  std::vector<Block> blocks_;
  std::vector<Registers> uses_, defined_, in_, out_;

 public:
  std::vector<Range> ranges;
  std::vector<int> unset;
};

// Numbers that are free, in runs of one, two or four.
class FreeSlots {
 public:
  int take(int width) {
    auto& free = free_[width];
    if (!free.empty()) {
      const int slot = free.back();
      free.pop_back();
      return slot;
    }
    const int slot = end_;
    end_ += width;
    return slot;
  }
  void give_back(int slot, int width) { free_[width].push_back(slot); }
  int end() const { return end_; }

 private:
  std::map<int, std::vector<int>> free_;
  int end_ = 0;
};

}  // namespace

Access access_of(const Instruction& i) {
  Access access;
  if (i.guard >= 0) access.reads.push_back(i.guard);
  std::size_t results = writes_nothing(i) ? 0 : i.two_results ? 2 : 1;
  if (i.opcode == "call") results = static_cast<std::size_t>(i.results);
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    const bool is_result = n < results && o.kind != Kind::address;
    add_registers(o, is_result ? access.writes : access.reads);
    if (n == 0 && is_group_product(i)) add_registers(o, access.writes);  // and adds to it
  }
  return access;
}

namespace {

bool is_real(const Instruction& i) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(),
                     [](const std::string& m) { return m == "f32" || m == "f64"; });
}

// What arithmetic has computed or will use; but what is only loaded may be loaded again.
Registers computed_reals(const Function& f) {
  Registers used(f.registers.size()), moved(f.registers.size()), both(f.registers.size());
  for (const Instruction& i : f.body) {
    const Access access = access_of(i);
    if (is_real(i) && i.opcode != "ld" && i.opcode != "st") {
      for (const int r : access.reads) used.insert(r);
      for (const int r : access.writes) used.insert(r), moved.insert(r);
    }
    if (i.opcode == "mov" && i.operands.back().kind == Kind::reg)
      for (const int r : access.writes) moved.insert(r);
  }
  used.each([&](int r) {
    if (moved.has(r)) both.insert(r);
  });
  return both;
}

int sums_of(const Function& f, const Liveness& live) {
  const Registers reals = computed_reals(f);
  int most = 0;
  live.for_each_loop([&](const Registers& kept) {
    int words = 0;
    kept.each([&](int r) {
      const Type type = f.registers[static_cast<std::size_t>(r)].type;
      if (reals.has(r) && type != Type::pred) words += bytes_of(type) > 4 ? 2 : 1;
    });
    most = std::max(most, words);
  });
  return most;
}

}  // namespace

SlotPlan plan_slots(const Function& f) {
  Liveness live(f);
  SlotPlan plan;
  plan.product_register = product_registers(f);
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    if (plan.product_register[r] < 0) continue;
    ++plan.product_registers;
    if (live.ranges[r].first >= 0) live.ranges[r] = {0, static_cast<int>(f.body.size())};
  }
  plan.slot.assign(f.registers.size(), -1);
  std::vector<int> order;
  for (std::size_t r = 0; r < f.registers.size(); ++r)
    if (live.ranges[r].first >= 0) order.push_back(static_cast<int>(r));
  const auto range = [&](int r) { return live.ranges[static_cast<std::size_t>(r)]; };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return range(a).first < range(b).first; });
  FreeSlots slots, predicates;
  std::multimap<int, int> ending;  // last instruction, register
  const auto of = [&](int r) -> FreeSlots& {
    return f.registers[static_cast<std::size_t>(r)].type == Type::pred ? predicates : slots;
  };
  const auto width = [&](int r) {
    const int bytes = bytes_of(f.registers[static_cast<std::size_t>(r)].type);
    return bytes <= 4 ? 1 : bytes / 4;
  };
  for (const int r : order) {
    // Strictly before: the result of an instruction never lies where its operands do.
    while (!ending.empty() && ending.begin()->first < range(r).first) {
      const int done = ending.begin()->second;
      of(done).give_back(plan.slot[static_cast<std::size_t>(done)], width(done));
      ending.erase(ending.begin());
    }
    plan.slot[static_cast<std::size_t>(r)] = of(r).take(width(r));
    ending.insert({range(r).last, r});
  }
  plan.slots = slots.end();
  plan.predicates = predicates.end();
  plan.is_read.assign(f.registers.size(), false);
  for (const Instruction& i : f.body)
    for (const int r : access_of(i).reads) plan.is_read[static_cast<std::size_t>(r)] = true;
  plan.unset = live.unset;
  plan.sums = sums_of(f, live);
  return plan;
}

}  // namespace ptx
