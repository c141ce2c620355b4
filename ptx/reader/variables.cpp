#include "ptx/reader/variables.h"

#include <fmt/format.h>

#include <bit>

#include "ptx/reader/constants.h"
#include "ptx/reader/initial.h"
#include "ptx/reader/types.h"

namespace ptx {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr std::size_t most_dimensions = 16;
constexpr std::uint64_t most_align = std::uint64_t{1} << 20;

std::uint64_t read_align(Lexer& in) {
  const Token number = in.next();
  const std::uint64_t align = read_count(in, "an alignment", most_align);
  if (!std::has_single_bit(align))
    Lexer::fail_at(number.line, fmt::format("an alignment is a power of two, got {}", align));
  return align;
}

// [3][4] or [] or nothing. An empty one is 0 elements.
std::vector<std::uint64_t> read_dimensions(Lexer& in) {
  std::vector<std::uint64_t> dimensions;
  while (in.accept("[")) {
    if (!dimensions.empty() && in.at("]")) in.fail_expecting("a number of elements");
    if (dimensions.size() == most_dimensions) in.fail("an array of too many dimensions");
    dimensions.push_back(in.at("]") ? 0 : read_count(in, "an array", most_bytes));
    if (dimensions.size() > 1 && dimensions.back() == 0) in.fail("rows of no elements");
    in.expect("]");
  }
  return dimensions;
}

// 0 if one of them is.
std::uint64_t product(Lexer& in, std::uint64_t bytes, const std::vector<std::uint64_t>& factors) {
  bool is_zero = false;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && bytes > most_bytes / factor)
      in.fail(fmt::format("a variable of more than {} bytes", most_bytes));
    bytes *= factor != 0 ? factor : 1;
    is_zero |= factor == 0;
  }
  return is_zero ? 0 : bytes;
}

}  // namespace

bool skip_parentheses(Lexer& in, std::string_view wanted) {
  bool is_there = false;
  in.expect("(");
  for (int depth = 1; depth > 0; in.take()) {
    if (in.at(Token::Kind::end)) in.fail_expecting("')'");
    if (in.at("(")) ++depth;
    if (in.at(")")) --depth;
    is_there |= in.at(wanted);
  }
  return is_there;
}

Space space_named(std::string_view dotted) {
  if (dotted == ".global") return Space::global;
  if (dotted == ".shared") return Space::shared;
  if (dotted == ".local") return Space::local;
  if (dotted == ".param") return Space::param;
  if (dotted == ".const") return Space::constant;
  return Space::generic;
}

Declared read_declared(Lexer& in, Space space, bool is_extern) {
  Declared declared{.space = space, .is_extern = is_extern};
  std::uint64_t align = 0, vector = 1;
  for (;;) {
    if (in.accept(".align")) {
      align = read_align(in);
    } else if (in.accept(".attribute")) {
      declared.is_managed |= skip_parentheses(in, ".managed");
    } else if (in.at(".v2") || in.at(".v4") || in.at(".v8")) {
      vector = static_cast<std::uint64_t>(in.take().text[2] - '0');
    } else if (in.at(".texref") || in.at(".samplerref") || in.at(".surfref")) {
      in.fail(fmt::format("references to textures are not known here: {}", quoted(in.next().text)));
    } else {
      break;
    }
  }
  const int line = in.next().line;
  declared.type = read_type(in);
  if (declared.type == Type::pred) Lexer::fail_at(line, "a predicate can only be a register");
  declared.bytes = vector * static_cast<std::uint64_t>(bytes_of(declared.type));
  declared.align = align != 0 ? align : declared.bytes;
  return declared;
}

Variable read_variable(Lexer& in, const Declared& declared, Token* name) {
  *name = in.expect(Token::Kind::word, "the name of a variable");
  Variable variable{.name = std::string(name->text),
                    .space = declared.space,
                    .type = declared.type,
                    .align = declared.align,
                    .is_extern = declared.is_extern,
                    .is_managed = declared.is_managed};
  std::vector<std::uint64_t> dimensions = read_dimensions(in);
  variable.bytes = product(in, declared.bytes, dimensions);
  if (in.at("=") && declared.space != Space::global && declared.space != Space::constant)
    in.fail("only .global and .const variables have values at first");
  if (in.accept("=")) read_initial(in, variable, dimensions);
  return variable;
}

std::vector<Variable> read_parameters(Lexer& in, std::unordered_set<std::string_view>* taken) {
  std::vector<Variable> parameters;
  in.expect("(");
  if (in.accept(")")) return parameters;
  do {
    if (in.at(".reg")) in.fail("parameters in registers are not known here");
    in.expect(".param");
    Declared declared = read_declared(in, Space::param, false);
    if (in.accept(".ptr")) {
      if (in.at(Token::Kind::dotted) && space_named(in.next().text) != Space::generic) in.take();
      if (in.accept(".align")) read_align(in);
    }
    Token name;
    parameters.push_back(read_variable(in, declared, &name));
    if (name.text != "_" && !taken->insert(name.text).second)
      Lexer::fail_at(name.line, fmt::format("{} is declared twice", quoted(name.text)));
  } while (in.accept(","));
  in.expect(")");
  return parameters;
}

}  // namespace ptx
