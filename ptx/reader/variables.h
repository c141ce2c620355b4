// Declarations of variables and parameters, with what they hold at first.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"

namespace ptx {

// Skips what stands in parentheses, of which nothing matters here but whether `wanted` is there.
bool skip_parentheses(Lexer&, std::string_view wanted = "");

// The space that a directive such as ".shared" names; generic if it names none.
Space space_named(std::string_view dotted);

// What stands between a space and the names: .attribute(...) .align 16 .v4 .f32
struct Declared {
  Space space = Space::generic;
  Type type = Type::none;
  std::uint64_t align = 1;
  std::uint64_t bytes = 0;  // of one element
  bool is_extern = false, is_managed = false;
};
Declared read_declared(Lexer&, Space, bool is_extern);

// A name, its dimensions and its initialiser. `name` keeps its place for error messages.
Variable read_variable(Lexer&, const Declared&, Token* name);

// (.param .u64 .ptr .global .align 16 name, ...): without names if this is a prototype.
// None has a name of `taken`, where they add theirs.
std::vector<Variable> read_parameters(Lexer&, std::unordered_set<std::string_view>* taken);

}  // namespace ptx
