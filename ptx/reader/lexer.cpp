#include "ptx/reader/lexer.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/printable.h"
#include "ptx/reader/reader.h"

namespace ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_word(char c) { return is_letter(c) || is_digit(c); }

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  const bool cut = text.size() > longest;
  return fmt::format("'{}{}'", assay::printable(text.substr(0, longest)), cut ? "..." : "");
}

Lexer::Lexer(std::string_view text) : text_(text) { advance(); }

Token Lexer::take() {
  const Token token = next_;
  last_ = token.text;
  advance();
  return token;
}

bool Lexer::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail_expecting(quoted(text));
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (!at(kind)) fail_expecting(what);
  return take();
}

void Lexer::fail(const std::string& message) const { fail_at(next_.line, message); }

void Lexer::fail_at(int line, const std::string& message) {
  throw BadPtx(fmt::format("line {}: {}", line, message));
}

void Lexer::fail_expecting(std::string_view what) const {
  fail(fmt::format("expected {}{}, got {}", what,
                   last_.empty() ? std::string() : " after " + quoted(last_),
                   at(Token::Kind::end) ? "the end of the text" : quoted(next_.text)));
}

void Lexer::skip_block() {
  const int line = next_.line;
  if (!at("{")) fail_expecting("'{'");
  for (int depth = 1; depth > 0;) {
    skip_plain();
    skip_space();
    if (at_ == text_.size()) fail_at(line, "a '{' without its '}'");
    const char c = text_[at_];
    if (c == '"') {
      scan_text();
      continue;
    }
    if (c == '{') ++depth;
    if (c == '}') --depth;
    ++at_;
  }
  last_ = "}";
  advance();
}

// Goes on to what may begin or end a block, a text or a comment.
void Lexer::skip_plain() {
  constexpr std::size_t step = 64;  // characters that are looked at at once
  const auto is_special = [](char c) {
    return static_cast<std::uint8_t>((c == '{') | (c == '}') | (c == '"') | (c == '/'));
  };
  for (; at_ + step <= text_.size(); at_ += step) {
    const char* const some = text_.data() + at_;
    std::uint8_t any = 0, lines = 0;
    for (std::size_t i = 0; i < step; ++i) {
      any |= is_special(some[i]);
      lines = static_cast<std::uint8_t>(lines + (some[i] == '\n'));
    }
    if (any != 0) break;
    line_ += lines;
  }
  for (; at_ < text_.size() && is_special(text_[at_]) == 0; ++at_)
    if (text_[at_] == '\n') ++line_;
}

void Lexer::skip_space() {
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') {
      ++line_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) fail_at(line_, "a comment without its '*/'");
      for (; at_ < end + 1; ++at_)
        if (text_[at_] == '\n') ++line_;
    } else if (!is_space(text_[at_])) {
      return;
    }
  }
}

void Lexer::advance() {
  skip_space();
  next_.line = line_;
  const std::size_t begin = at_;
  next_.kind = scan();
  next_.text = text_.substr(begin, at_ - begin);
  if (next_.kind == Token::Kind::text) next_.text = text_.substr(begin + 1, at_ - begin - 2);
}

Token::Kind Lexer::scan() {
  if (at_ == text_.size()) return Token::Kind::end;
  const char first = text_[at_];
  const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
  if (is_digit(first)) return scan_number(), Token::Kind::number;
  if (is_letter(first) || (first == '%' && is_letter(second)))
    return ++at_, scan_word(), Token::Kind::word;
  if (first == '.' && is_word(second)) return ++at_, scan_word(), Token::Kind::dotted;
  if (first == '"') return scan_text(), Token::Kind::text;
  const bool is_shift = (first == '<' || first == '>') && first == second;
  at_ += is_shift ? 2 : 1;
  return Token::Kind::mark;
}

// A word of a modifier may go on after "::".
void Lexer::scan_word() {
  const bool is_modifier = text_[at_ - 1] == '.';
  for (;; at_ += 2) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const bool goes_on = is_modifier && text_.substr(at_, 2) == "::" && at_ + 2 < text_.size() &&
                         is_word(text_[at_ + 2]);
    if (!goes_on) return;
  }
}

// Whether it is a number at all, is asked when its value is needed.
void Lexer::scan_number() {
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  digits();
  const bool has_point = at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1]);
  if (has_point) ++at_, digits();
  const bool has_exponent = at_ + 2 < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E') &&
                            (text_[at_ + 1] == '-' || text_[at_ + 1] == '+') &&
                            is_digit(text_[at_ + 2]);
  if (has_exponent) at_ += 2;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
}

void Lexer::scan_text() {
  for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '"') return void(++at_);
    if (text_.substr(at_, 2) == "\\\"" || text_.substr(at_, 2) == "\\\\") ++at_;
  }
  fail_at(line_, "a text without its closing '\"'");
}

}  // namespace ptx
