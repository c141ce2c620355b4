#include "ptx/reader/constants.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <string>

namespace ptx {
namespace {

[[noreturn]] void refuse(const Token& number) {
  Lexer::fail_at(number.line,
                 fmt::format("{} is not a number of at most 64 bits", quoted(number.text)));
}

std::uint64_t digits(std::string_view text, int base, const Token& number) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) refuse(number);
  return value;
}

Constant decimal_real(const Token& number) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
  if (error != std::errc() || end != number.text.data() + number.text.size()) refuse(number);
  return {std::bit_cast<std::uint64_t>(value), 8};
}

class Expression {
 public:
  explicit Expression(Lexer& in) : in_(in) {}
  Constant read() { return binary(1); }

 private:
  static int rank_of(std::string_view op) {
    if (op == "|") return 1;
    if (op == "^") return 2;
    if (op == "&") return 3;
    if (op == "<<" || op == ">>") return 4;
    if (op == "+" || op == "-") return 5;
    if (op == "*" || op == "/" || op == "%") return 6;
    return 0;
  }

  Constant binary(int lowest) {
    Constant left = unary();
    while (in_.at(Token::Kind::mark) && rank_of(in_.next().text) >= lowest) {
      const Token op = in_.take();
      const Constant right = binary(rank_of(op.text) + 1);
      if (left.width != 0 || right.width != 0)
        Lexer::fail_at(op.line, fmt::format("{} between real numbers", quoted(op.text)));
      left.bits = apply(op, left.bits, right.bits);
    }
    return left;
  }

  static std::uint64_t sign_of(const Constant& real) {
    return std::uint64_t{1} << (real.width * 8 - 1);
  }

  static std::uint64_t apply(const Token& op, std::uint64_t a, std::uint64_t b) {
    const auto signed_a = static_cast<std::int64_t>(a), signed_b = static_cast<std::int64_t>(b);
    switch (op.text.front()) {
      case '|': return a | b;
      case '^': return a ^ b;
      case '&': return a & b;
      case '<': return b < 64 ? a << b : 0;
      case '>': return static_cast<std::uint64_t>(signed_a >> (b < 64 ? b : 63));
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      default: break;
    }
    if (b == 0) Lexer::fail_at(op.line, "a division by zero");
    if (signed_b == -1) return op.text == "/" ? -a : 0;  // the least number has no opposite
    return static_cast<std::uint64_t>(op.text == "/" ? signed_a / signed_b : signed_a % signed_b);
  }

  Constant unary() {
    if (++depth_ > 100) in_.fail("an expression within too many others");
    Constant value;
    if (in_.accept("-")) {
      value = unary();
      value.bits = value.width == 0 ? -value.bits : value.bits ^ sign_of(value);
    } else if (in_.accept("+")) {
      value = unary();
    } else if (in_.at("~")) {
      const Token op = in_.take();
      value = unary();
      if (value.width != 0) Lexer::fail_at(op.line, "'~' of a real number");
      value.bits = ~value.bits;
    } else if (in_.accept("(")) {
      value = read();
      in_.expect(")");
    } else {
      value = value_of(in_.expect(Token::Kind::number, "a number"));
    }
    --depth_;
    return value;
  }

  Lexer& in_;
  int depth_ = 0;
};

}  // namespace

Constant value_of(const Token& number) {
  std::string_view text = number.text;
  const char kind = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
  const bool is_single = kind == 'f' || kind == 'F';
  if (is_single || kind == 'd' || kind == 'D') {
    const int width = is_single ? 4 : 8;
    if (text.size() != 2 + 2 * static_cast<std::size_t>(width)) refuse(number);
    return {digits(text.substr(2), 16, number), width};
  }
  const bool is_hex = kind == 'x' || kind == 'X';
  if (!is_hex && text.find_first_of(".eE") != std::string_view::npos) return decimal_real(number);
  if (text.back() == 'U') text.remove_suffix(1);
  if (is_hex) return {digits(text.substr(2), 16, number)};
  if (kind == 'b' || kind == 'B') return {digits(text.substr(2), 2, number)};
  if (text.size() > 1 && text[0] == '0') return {digits(text.substr(1), 8, number)};
  return {digits(text, 10, number)};
}

Constant read_constant(Lexer& in) { return Expression(in).read(); }

std::uint64_t read_integer(Lexer& in) {
  const int line = in.next().line;
  const Constant value = read_constant(in);
  if (value.width != 0) Lexer::fail_at(line, "a real number where only an integer can stand");
  return value.bits;
}

std::uint64_t read_count(Lexer& in, std::string_view whose, std::uint64_t most) {
  const int line = in.next().line;
  const std::uint64_t value = read_integer(in);
  if (value > most)
    Lexer::fail_at(line, fmt::format("{} is at most {}, got {}", whose, most, value));
  return value;
}

std::int64_t read_offset(Lexer& in) {
  if (!in.at("+") && !in.at("-")) return 0;
  return static_cast<std::int64_t>(read_integer(in));
}

}  // namespace ptx
