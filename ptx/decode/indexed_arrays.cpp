#include "ptx/decode/indexed_arrays.h"

#include <algorithm>
#include <set>

#include "ptx/decode/slot_plan.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

constexpr int none = -1, several = -2;
int joined(int a, int b) { return a == none ? b : b == none || a == b ? a : several; }

// Whether what an instruction computes from an address is an address.
bool moves_addresses(const Instruction& i) {
  static const std::set<std::string> all = {"mov", "cvt", "cvta", "add", "sub",
                                            "mad", "or",  "and",  "xor", "selp"};
  return all.count(i.opcode) != 0;
}
// Whether it is a multiple of it: then it is a distance, which may lead to any array.
bool multiplies(const Instruction& i) {
  static const std::set<std::string> all = {"mul", "mad", "shl", "shr", "neg"};
  return all.count(i.opcode) != 0;
}

class Origins {
 public:
  Origins(const Function& f, const std::map<std::string, int>& arrays)
      : arrays_(arrays), of_(f.registers.size(), none) {
    for (bool changes = true; changes;) {
      changes = false;
      for (const Instruction& i : f.body)
        if (moves_addresses(i) || multiplies(i)) changes |= follow(i);
    }
  }
  int of(const Operand& o) const {
    if ((o.kind == Kind::reg || o.kind == Kind::address) && o.index >= 0)
      return of_[static_cast<std::size_t>(o.index)];
    if (const auto array = arrays_.find(o.text); array != arrays_.end()) return array->second;
    int all = none;
    for (const Operand& element : o.elements) all = joined(all, of(element));
    return all;
  }

 private:
  bool follow(const Instruction& i) {
    int from = none;
    for (std::size_t n = 1; n < i.operands.size(); ++n) {
      const int its = of(i.operands[n]);
      const bool is_factor = multiplies(i) && (i.opcode != "mad" || n < 3);
      from = joined(from, is_factor && its != none ? several : its);
    }
    bool changes = false;
    for (const int r : access_of(i).writes) {
      int& to = of_[static_cast<std::size_t>(r)];
      changes |= to != joined(to, from);
      to = joined(to, from);
    }
    return changes;
  }

  const std::map<std::string, int>& arrays_;
  std::vector<int> of_;
};

}  // namespace

std::vector<int> indexed_arrays(const Function& f, const std::map<std::string, int>& arrays) {
  std::vector<int> all(f.body.size(), none);
  if (arrays.empty()) return all;
  const Origins origins(f, arrays);
  for (std::size_t n = 0; n < f.body.size(); ++n) {
    const Instruction& i = f.body[n];
    for (const Operand& o : i.operands)
      if (o.kind == Kind::address) all[n] = joined(all[n], origins.of(o));
    // A bulk copy reaches its barrier too.
    const bool is_bulk = std::count(i.modifiers.begin(), i.modifiers.end(), "bulk") != 0;
    if (all[n] == several || is_bulk) all[n] = none;
  }
  return all;
}

}  // namespace ptx
