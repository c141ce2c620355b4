#include "ptx/reader/names.h"

#include <fmt/format.h>

#include <charconv>

namespace ptx {

Names::Names(Function& function, const Globals& globals) : function_(function), globals_(globals) {
  open_block();
  for (const auto* list : {&function.results, &function.params})
    for (const Variable& variable : *list) {
      blocks_.back().names[variable.name] = {Name::Kind::parameter, -1};
      times_declared_[variable.name] = 1;
    }
}

void Names::open_block() { blocks_.emplace_back(); }

void Names::close_block() {
  Block closing = std::move(blocks_.back());
  blocks_.pop_back();
  for (Use& use : closing.uses) {
    const auto label = closing.labels.find(use.label.text);
    if (label != closing.labels.end()) {
      settle(use, label->second);
    } else if (blocks_.empty()) {
      Lexer::fail_at(use.label.line, fmt::format("there is no label {}", quoted(use.label.text)));
    } else {
      blocks_.back().uses.push_back(use);
    }
  }
}

void Names::settle(const Use& use, int target) {
  if (use.in_list) {
    function_.branch_targets[use.owner][use.part] = target;
  } else {
    function_.body[use.owner].operands[use.part].index = target;
  }
}

void Names::declare(const Token& name, Name what) {
  if (!blocks_.back().names.emplace(name.text, what).second)
    Lexer::fail_at(name.line, fmt::format("{} is declared twice", quoted(name.text)));
}

void Names::declare_registers(const Token& name, Type type, std::uint64_t count) {
  for (const Range& range : blocks_.back().ranges)
    if (range.prefix == name.text)
      Lexer::fail_at(name.line, fmt::format("{} is declared twice", quoted(name.text)));
  blocks_.back().ranges.push_back({name.text, type, count, {}});
}

void Names::declare_register(const Token& name, Type type) {
  declare(name, {Name::Kind::reg, add_register(name.text, type)});
}

// Two variables of one function never share a name: instructions refer to them by it.
void Names::declare_variable(const Token& name, Variable variable) {
  declare(name, {Name::Kind::variable, static_cast<int>(function_.variables.size())});
  variable.name = name.text;
  const bool shadows_global = globals_.has_variable(name.text) || globals_.has_function(name.text);
  int& times = times_declared_.emplace(variable.name, shadows_global ? 1 : 0).first->second;
  if (++times > 1) variable.name += fmt::format(".{}", times);
  function_.variables.push_back(std::move(variable));
}

void Names::declare_label(const Token& name) {
  const int place = static_cast<int>(function_.body.size());
  if (!blocks_.back().labels.emplace(name.text, place).second)
    Lexer::fail_at(name.line, fmt::format("the label {} stands here twice", quoted(name.text)));
  function_.labels.emplace_back(name.text, place);
}

std::optional<Name> Names::find(std::string_view name) {
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    for (Range& range : blocks_[i].ranges)
      if (name.starts_with(range.prefix))
        if (const auto found = find_in_range(blocks_[i], range, name)) return found;
    const auto known = blocks_[i].names.find(name);
    if (known != blocks_[i].names.end()) return known->second;
  }
  if (globals_.has_variable(name)) return Name{Name::Kind::global, -1};
  if (globals_.has_function(name)) return Name{Name::Kind::function, -1};
  return {};
}

// "%r12" is the 13th of "%r<100>", or the third of "%r1<10>".
std::optional<Name> Names::find_in_range(Block& block, Range& range, std::string_view name) {
  const std::string_view digits = name.substr(range.prefix.size());
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return {};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number >= range.count) return {};

  constexpr std::size_t most_by_number = 1 << 16;  // whatever number a text may use
  if (number >= most_by_number) {
    const auto [known, is_new] = block.names.emplace(name, Name{Name::Kind::reg, -1});
    if (is_new) known->second.index = add_register(name, range.type);
    return known->second;
  }
  if (number >= range.indices.size()) range.indices.resize(number + 1, -1);
  int& index = range.indices[number];
  if (index < 0) index = add_register(name, range.type);
  return Name{Name::Kind::reg, index};
}

int Names::add_register(std::string_view name, Type type) {
  function_.registers.push_back({std::string(name), type});
  return static_cast<int>(function_.registers.size()) - 1;
}

void Names::use_label_in_next(const Token& label, std::size_t operand) {
  blocks_.back().uses.push_back({label, false, function_.body.size(), operand});
}

void Names::use_label_in_list(const Token& label, std::size_t list, std::size_t entry) {
  blocks_.back().uses.push_back({label, true, list, entry});
}

}  // namespace ptx
