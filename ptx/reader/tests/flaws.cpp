#include "ptx/reader/tests/flaws.h"

#include <fmt/format.h>

#include <set>

#include "ptx/reader/reader.h"

namespace ptx::tests {
namespace {

template <class List>
bool is_in(int index, const List& list) {
  return index >= 0 && static_cast<std::size_t>(index) < list.size();
}

class Inspection {
 public:
  explicit Inspection(const Module& module) : module_(module) {
    for (const Variable& variable : module.variables) globals_.insert(variable.name);
    for (const Function& function : module.functions) globals_.insert(function.name);
  }

  std::string flaw() {
    check(globals_.size() == module_.variables.size() + module_.functions.size(), "a name twice");
    for (std::size_t i = 0; i < module_.places.size(); ++i) {
      const Place& place = module_.places[i];
      check(is_in(place.file, module_.files), "a place in no file");
      check(place.called_from < static_cast<int>(i), "a place that is called from a later one");
    }
    for (const Variable& variable : module_.variables) look_at(variable);
    for (const Function& function : module_.functions) look_at(function);
    return flaw_;
  }

 private:
  void check(bool holds, std::string_view otherwise) {
    if (!holds && flaw_.empty()) flaw_ = otherwise;
  }

  void look_at(const Variable& variable) {
    check(variable.align != 0 && (variable.align & (variable.align - 1)) == 0, "an odd alignment");
    check(variable.initial.size() <= variable.bytes, "more values than bytes");
    for (const Variable::Relocation& relocation : variable.relocations) {
      check(relocation.at + 8 <= variable.initial.size(), "an address beyond the values");
      check(globals_.contains(relocation.symbol), "the address of nothing");
    }
  }

  void look_at(const Function& function) {
    function_ = &function;
    names_ = globals_;
    std::set<std::string> own;
    for (const auto* list : {&function.results, &function.params, &function.variables})
      for (const Variable& variable : *list) {
        look_at(variable);
        check(own.insert(variable.name).second || variable.name == "_", "two of one name");
        names_.insert(variable.name);
      }
    for (const Register& one : function.registers)
      check(one.type != Type::none && !one.name.empty(), "a register of no type");
    for (const auto& [name, index] : function.labels) check_target(index);
    for (const auto& list : function.branch_targets)
      for (const int target : list) check_target(target);
    for (const auto& [name, index] : function.target_lists)
      check(is_in(index, function.branch_targets), "a name of no list");
    for (const Instruction& instruction : function.body) look_at(instruction);
  }

  void check_target(int index) {
    check(index >= 0 && static_cast<std::size_t>(index) <= function_->body.size(), "a wild label");
  }

  void look_at(const Instruction& instruction) {
    check(!instruction.opcode.empty() && instruction.line > 0, "an instruction of nothing");
    check(instruction.guard == -1 || is_in(instruction.guard, function_->registers),
          "a wild guard");
    check(instruction.place == -1 || is_in(instruction.place, module_.places), "a wild place");
    check(static_cast<std::size_t>(instruction.results) <= instruction.operands.size(),
          "results that are not there");
    check(!instruction.two_results || instruction.operands.size() >= 2, "two results of one");
    for (const Operand& operand : instruction.operands) look_at(operand);
  }

  void look_at(const Operand& operand) {
    using Kind = Operand::Kind;
    const bool is_list = operand.kind == Kind::symbol && operand.index >= 0;
    switch (operand.kind) {
      case Kind::reg: check(is_in(operand.index, function_->registers), "a wild register"); break;
      case Kind::address:
        if (operand.index >= 0)
          check(is_in(operand.index, function_->registers), "a wild base");
        else
          check(operand.text.empty() || names_.contains(operand.text), "an address of nothing");
        break;
      case Kind::symbol:
        if (is_list)
          check(is_in(operand.index, function_->branch_targets), "a wild list");
        else
          check(names_.contains(operand.text), "a symbol of nothing");
        break;
      case Kind::label: check_target(operand.index); break;
      case Kind::real: check(operand.width == 4 || operand.width == 8, "a real of no width"); break;
      case Kind::vector: check(!operand.elements.empty(), "an empty vector"); break;
      case Kind::special: check(!operand.text.empty(), "a special register of no name"); break;
      case Kind::integer:
      case Kind::discard: break;
    }
    for (const Operand& element : operand.elements) look_at(element);
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::set<std::string> globals_, names_;
  std::string flaw_;
};

}  // namespace

std::string flaw_of(const Module& module) { return Inspection(module).flaw(); }

Module read_backwards(std::string_view text) {
  Module module = read_without_bodies(text);
  for (std::size_t i = module.functions.size(); i-- > 0;)
    if (module.functions[i].is_unread) read_body_of(module.functions[i], module);
  return module;
}

}  // namespace ptx::tests
