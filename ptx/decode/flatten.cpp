#include "ptx/decode/flatten.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ptx/decode/decode.h"

namespace ptx {
namespace {

const Function* defined(const Module& module, const std::string& name) {
  for (const Function& f : module.functions)
    if (f.name == name && !f.is_extern) return &f;
  return nullptr;
}

// Copies bodies into one, and gives everything of a copy names and numbers of its own.
class Flattening {
 public:
  Flattening(const Module& module, const Function& kernel) : module_(module) {
    out_ = kernel;
    out_.body.clear();
    out_.registers.clear();
    out_.variables.clear();
    out_.labels.clear();
    out_.branch_targets.clear();
    out_.target_lists.clear();
    copy(kernel, {}, false);
  }
  Function take() { return std::move(out_); }

 private:
  using Names = std::map<std::string, std::string>;

  void copy(const Function& f, const Names& params, bool is_called) {
    path_.push_back(&f);
    const int registers = static_cast<int>(out_.registers.size());
    const int lists = static_cast<int>(out_.branch_targets.size());
    out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
    Names names = params;
    for (Variable v : f.variables) {
      if (is_called) {
        const std::string unique = fmt::format("{}#{}", v.name, copies_);
        names[v.name] = unique;
        v.name = unique;
      }
      out_.variables.push_back(std::move(v));
    }
    if (is_called) ++copies_;
    out_.branch_targets.resize(out_.branch_targets.size() + f.branch_targets.size());
    std::vector<int> new_index(f.body.size() + 1, 0);
    std::vector<int> jumps;  // instructions whose labels are still the old ones
    std::vector<int> returns;
    for (std::size_t i = 0; i < f.body.size(); ++i) {
      new_index[i] = static_cast<int>(out_.body.size());
      Instruction instruction = f.body[i];
      if (instruction.guard >= 0) instruction.guard += registers;
      for (Operand& operand : instruction.operands) rename(operand, registers, names);
      if (instruction.opcode == "call") {
        if (call(instruction)) continue;
      } else if (is_called && instruction.opcode == "ret") {
        instruction.opcode = "bra";
        instruction.modifiers.clear();
        instruction.operands = {Operand{.kind = Operand::Kind::label}};
        returns.push_back(static_cast<int>(out_.body.size()));
      } else if (has_label(instruction)) {
        jumps.push_back(static_cast<int>(out_.body.size()));
      }
      if (instruction.opcode == "brx") instruction.operands[1].index += lists;
      out_.body.push_back(std::move(instruction));
    }
    const int end = static_cast<int>(out_.body.size());
    new_index[f.body.size()] = end;
    for (const int at : jumps)
      for (Operand& o : out_.body[static_cast<std::size_t>(at)].operands)
        if (o.kind == Operand::Kind::label) o.index = new_index[static_cast<std::size_t>(o.index)];
    for (const int at : returns) out_.body[static_cast<std::size_t>(at)].operands[0].index = end;
    for (std::size_t n = 0; n < f.branch_targets.size(); ++n)
      for (const int t : f.branch_targets[n])
        out_.branch_targets[static_cast<std::size_t>(lists) + n].push_back(
            new_index[static_cast<std::size_t>(t)]);
    for (const auto& [name, index] : f.labels)
      out_.labels.push_back({name, new_index[static_cast<std::size_t>(index)]});
    for (const auto& [name, index] : f.target_lists)
      if (!is_called) out_.target_lists.push_back({name, index + lists});
    path_.pop_back();
  }

  std::string place_text(const Instruction& i) const {
    if (i.place < 0) return "";
    const Place& place = module_.places[static_cast<std::size_t>(i.place)];
    return fmt::format(" ({}:{})", module_.files[static_cast<std::size_t>(place.file)], place.line);
  }
  static bool has_label(const Instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(),
                       [](const Operand& o) { return o.kind == Operand::Kind::label; });
  }

  static void rename(Operand& o, int registers, const Names& names) {
    using Kind = Operand::Kind;
    if ((o.kind == Kind::reg || o.kind == Kind::address) && o.index >= 0) o.index += registers;
    if (o.kind == Kind::symbol || o.kind == Kind::address) {
      if (const auto at = names.find(o.text); at != names.end()) o.text = at->second;
    }
    for (Operand& element : o.elements) rename(element, registers, names);
  }

  // Replaces a call by a copy of what it calls; false for what is built in.
  bool call(const Instruction& i) {
    const auto results = static_cast<std::size_t>(i.results);
    const Operand& callee = i.operands[results];
    const bool is_pointer = callee.kind != Operand::Kind::symbol;
    const Function* f = is_pointer ? nullptr : defined(module_, callee.text);
    if (!is_pointer && f == nullptr) {
      if (is_built_in(callee.text)) return false;
      throw BadPtx(
          fmt::format("line {}: {} is called, and nothing here defines it", i.line, callee.text));
    }
    const int skip = i.guard < 0 ? -1 : add_branch(i, i.guard, !i.guard_negated);
    if (f != nullptr)
      copy_called(*f, i);
    else
      call_pointer(i, callee);
    if (skip >= 0) land(skip);
    return true;
  }

  void copy_called(const Function& f, const Instruction& i) {
    if (std::find(path_.begin(), path_.end(), &f) != path_.end())
      throw BadPtx(
          fmt::format("line {}: {}{} calls itself: recursion is not supported; a loop with "
                      "a stack of its own would be",
                      i.line, own_name(f.name), place_text(i)));
    const auto results = static_cast<std::size_t>(i.results);
    Names params;
    const auto bind = [&](const std::vector<Variable>& declared, std::size_t first) {
      for (std::size_t n = 0; n < declared.size(); ++n) {
        const Operand& given = i.operands.at(first + n);
        if (given.kind != Operand::Kind::symbol)
          throw BadPtx(
              fmt::format("line {}: a call that passes registers is not supported", i.line));
        params[declared[n].name] = given.text;
      }
    };
    bind(f.results, 0);
    bind(f.params, results + 1);
    copy(f, params, true);
  }

  // if (callee == &first) first(...); else if (callee == &second) ...
  void call_pointer(const Instruction& i, const Operand& callee) {
    const auto count = [](std::size_t n) { return static_cast<int>(n); };
    std::vector<int> ends;
    for (const Function& f : module_.functions) {
      if (f.is_kernel || f.is_extern || !is_address_taken(f.name) ||
          count(f.results.size()) != i.results ||
          f.params.size() + 1 + static_cast<std::size_t>(i.results) != i.operands.size())
        continue;
      out_.registers.push_back({"%is_other", Type::pred});
      const int is_other = count(out_.registers.size()) - 1;
      Instruction compare = like(i, "setp");
      compare.modifiers = {"ne", "u64"};
      compare.operands = {{.kind = Operand::Kind::reg, .index = is_other},
                          callee,
                          {.kind = Operand::Kind::symbol, .text = f.name}};
      out_.body.push_back(std::move(compare));
      const int next = add_branch(i, is_other, false);
      copy_called(f, i);
      ends.push_back(add_branch(i, -1, false));
      land(next);
    }
    Instruction fails = like(i, "call");
    fails.operands = {{.kind = Operand::Kind::symbol, .text = no_function}};
    out_.body.push_back(std::move(fails));
    for (const int end : ends) land(end);
  }
  bool is_address_taken(const std::string& name) const {
    const auto names = [&](const Operand& o) {
      return o.kind == Operand::Kind::symbol && o.text == name;
    };
    for (const Variable& v : module_.variables)
      for (const Variable::Relocation& r : v.relocations)
        if (r.symbol == name) return true;
    for (const Function& f : module_.functions)
      for (const Instruction& i : f.body)
        if (i.opcode != "call" && std::any_of(i.operands.begin(), i.operands.end(), names))
          return true;
    return false;
  }

  // An instruction that stands where another one did.
  static Instruction like(const Instruction& i, const char* opcode) {
    Instruction made;
    made.opcode = opcode;
    made.place = i.place;
    made.line = i.line;
    return made;
  }
  // A branch to where `land` says.
  int add_branch(const Instruction& i, int guard, bool negated) {
    Instruction branch = like(i, "bra");
    branch.guard = guard;
    branch.guard_negated = negated;
    branch.operands = {{.kind = Operand::Kind::label}};
    out_.body.push_back(std::move(branch));
    return static_cast<int>(out_.body.size()) - 1;
  }
  void land(int branch) {
    out_.body[static_cast<std::size_t>(branch)].operands[0].index =
        static_cast<int>(out_.body.size());
  }

  const Module& module_;
  Function out_;
  std::vector<const Function*> path_;
  int copies_ = 0;
};

}  // namespace

bool is_built_in(const std::string& function) {
  return function == "vprintf" || function == "__assertfail" || function == "malloc" ||
         function == "free";
}

Function flattened(const Module& module, const Function& kernel) {
  return Flattening(module, kernel).take();
}

}  // namespace ptx
