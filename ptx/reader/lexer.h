// Cuts a text of PTX into tokens, and words the complaints about it: each is one line and safe to
// print, whatever the text holds.
#pragma once

#include <string>
#include <string_view>

namespace ptx {

struct Token {
  enum class Kind {
    word,    // ld, %r1, $L__BB0_1, _
    dotted,  // .global, .shared::cta, .m16n8k8
    number,  // 12U, 0x1f, 0f3F800000, 9.0
    text,    // "naive.cu", without its quotes
    mark,    // a character, or << or >>
    end,
  };
  Kind kind = Kind::end;
  std::string_view text;
  int line = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& next() const { return next_; }
  bool at(std::string_view text) const {  // never at a quoted text
    return next_.text == text && next_.kind != Token::Kind::text && next_.kind != Token::Kind::end;
  }
  bool at(Token::Kind kind) const { return next_.kind == kind; }
  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view what);

  // Skips from a { to its } without looking at the statements between them.
  void skip_block();

  // Throw BadPtx: "line 12: " and the message.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] static void fail_at(int line, const std::string& message);
  [[noreturn]] void fail_expecting(std::string_view what) const;

 private:
  void skip_space();
  void skip_plain();
  void advance();
  Token::Kind scan();
  void scan_word();
  void scan_number();
  void scan_text();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token next_;
  std::string_view last_;  // that was taken
};

// 'ld.param', for a message: in quotes, safe to print, and cut off if it is long.
std::string quoted(std::string_view text);

}  // namespace ptx
