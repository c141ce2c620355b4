#include "ptx/decode/calls/call_graph.h"

#include <algorithm>

namespace ptx {

bool calls_by_pointer(const Instruction& call) {
  return call.operands[static_cast<std::size_t>(call.results)].kind != Operand::Kind::symbol;
}

bool allocates(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(), [](const Function& f) {
    return std::any_of(f.body.begin(), f.body.end(),
                       [](const Instruction& i) { return i.opcode == "alloca"; });
  });
}
std::uint64_t bytes_of_arrays(const Function& f) {
  std::uint64_t bytes = 0;
  for (const Variable& v : f.variables) bytes += v.space == Space::local ? v.bytes : 0;
  return bytes;
}

CallGraph::CallGraph(const Module& module) : module_(module) {
  find_addresses_taken();
  find_reachable();
}

// Which takes its time, and matters to calls through pointers alone.
void CallGraph::find_addresses_taken() {
  const auto calls_any = [](const Function& f) {
    return std::any_of(f.body.begin(), f.body.end(), [](const Instruction& i) {
      const bool is_whole = i.operands.size() > static_cast<std::size_t>(i.results);
      return i.opcode == "call" && is_whole && calls_by_pointer(i);
    });
  };
  if (std::none_of(module_.functions.begin(), module_.functions.end(), calls_any)) return;
  for (const Variable& v : module_.variables)
    for (const Variable::Relocation& r : v.relocations) addresses_taken_.insert(r.symbol);
  for (const Function& f : module_.functions)
    for (const Instruction& i : f.body) {
      if (i.opcode == "call") continue;
      for (const Operand& o : i.operands)
        if (o.kind == Operand::Kind::symbol) addresses_taken_.insert(o.text);
    }
}

const Function* CallGraph::defined(const std::string& name) const {
  for (const Function& f : module_.functions)
    if (f.name == name && !f.is_extern) return &f;
  return nullptr;
}

std::vector<const Function*> CallGraph::behind_pointer(const Instruction& call) const {
  std::vector<const Function*> all;
  const auto results = static_cast<std::size_t>(call.results);
  for (const Function& f : module_.functions)
    if (!f.is_kernel && !f.is_extern && addresses_taken_.count(f.name) != 0 &&
        f.results.size() == results && f.params.size() + 1 + results == call.operands.size())
      all.push_back(&f);
  return all;
}

std::set<const Function*> CallGraph::called_by(const Function& f) const {
  std::set<const Function*> all;
  for (const Instruction& i : f.body) {
    const bool is_whole = i.operands.size() > static_cast<std::size_t>(i.results);
    if (i.opcode != "call" || !is_whole) continue;
    if (calls_by_pointer(i)) {
      const std::vector<const Function*> some = behind_pointer(i);
      all.insert(some.begin(), some.end());
    } else if (const Function* callee =
                   defined(i.operands[static_cast<std::size_t>(i.results)].text)) {
      all.insert(callee);
    }
  }
  return all;
}

void CallGraph::find_reachable() {
  std::map<const Function*, std::set<const Function*>> called;
  for (const Function& f : module_.functions) called[&f] = called_by(f);
  for (const auto& [from, first] : called) {
    std::vector<const Function*> left(first.begin(), first.end());
    std::set<const Function*>& all = reachable_[from];
    while (!left.empty()) {
      const Function* const f = left.back();
      left.pop_back();
      if (!all.insert(f).second) continue;
      const std::set<const Function*>& next = called.at(f);
      left.insert(left.end(), next.begin(), next.end());
    }
  }
}

bool CallGraph::call_each_other(const Function* a, const Function* b) const {
  return reachable_.at(a).count(b) != 0 && reachable_.at(b).count(a) != 0;
}

bool CallGraph::recurs_with_arrays(const Function* f) const {
  const std::set<const Function*>& below = reachable_.at(f);
  return std::any_of(below.begin(), below.end(),
                     [&](const Function* one) { return call_each_other(one, one); }) &&
         std::any_of(below.begin(), below.end(),
                     [](const Function* one) { return bytes_of_arrays(*one) != 0; });
}

}  // namespace ptx
