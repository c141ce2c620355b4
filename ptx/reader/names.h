// What the words of a function's body stand for: blocks nest, and the nearest name counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"

namespace ptx {

struct Name {
  enum class Kind { reg, variable, parameter, global, function, target_list, prototype };
  Kind kind = Kind::global;
  int index = -1;  // of a register, a variable or a list, within the function
};

// The variables and functions of the module that were declared so far.
struct Globals {
  std::unordered_map<std::string_view, std::size_t> variables, functions;  // their indices
  // Of a body that is read later, how many of each were declared before it.
  std::size_t variables_before = ~std::size_t{0}, functions_before = ~std::size_t{0};

  bool has_variable(std::string_view name) const {
    const auto found = variables.find(name);
    return found != variables.end() && found->second < variables_before;
  }
  bool has_function(std::string_view name) const {
    const auto found = functions.find(name);
    return found != functions.end() && found->second < functions_before;
  }
};

class Names {
 public:
  Names(Function&, const Globals&);

  void open_block();
  // Labels are known in all of their block, also before they stand there.
  void close_block();

  void declare(const Token& name, Name what);
  // "%r<100>" are a hundred names; registers get their indices as they are met.
  void declare_registers(const Token& name, Type type, std::uint64_t count);
  void declare_register(const Token& name, Type type);
  void declare_variable(const Token& name, Variable variable);
  void declare_label(const Token& name);

  std::optional<Name> find(std::string_view name);

  // The label goes into this operand of the instruction that comes next, or into this list, once
  // its place is known.
  void use_label_in_next(const Token& label, std::size_t operand);
  void use_label_in_list(const Token& label, std::size_t list, std::size_t entry);

 private:
  struct Range {
    std::string_view prefix;
    Type type;
    std::uint64_t count;
    std::vector<int> indices;  // of those that were met, by number; -1: not yet
  };
  struct Use {
    Token label;
    bool in_list;
    std::size_t owner, part;
  };
  struct Block {
    std::unordered_map<std::string_view, Name> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, int> labels;
    std::vector<Use> uses;
  };

  int add_register(std::string_view name, Type type);
  std::optional<Name> find_in_range(Block&, Range&, std::string_view name);
  void settle(const Use&, int target);

  Function& function_;
  const Globals& globals_;
  std::vector<Block> blocks_;
  std::unordered_map<std::string, int> times_declared_;  // variables, by name
};

}  // namespace ptx
