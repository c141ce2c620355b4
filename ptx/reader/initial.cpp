#include "ptx/reader/initial.h"

#include <fmt/format.h>

#include <bit>

#include "ptx/reader/constants.h"

namespace ptx {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

class Initial {
 public:
  Initial(Lexer& in, Variable& variable, const std::vector<std::uint64_t>& dimensions)
      : in_(in), variable_(variable), width_(static_cast<std::uint64_t>(bytes_of(variable.type))) {
    row_bytes_.assign(dimensions.size(), width_);
    for (std::size_t i = dimensions.size(); i-- > 1;)
      row_bytes_[i - 1] = row_bytes_[i] * dimensions[i];
  }

  // `most`: the bytes of this part of the array; 0: of as many elements as there are.
  void read(std::size_t depth, std::uint64_t most) {
    if (!in_.accept("{")) return read_element();
    const std::uint64_t begin = at_;
    const bool has_rows = depth + 1 < row_bytes_.size();
    while (!in_.at("}")) {
      const std::uint64_t row_begin = at_;
      if (!in_.at("{")) {
        read_element();
      } else if (has_rows) {
        read(depth + 1, row_bytes_[depth]);
        at_ = row_begin + row_bytes_[depth];
      } else {
        in_.fail("more braces than the variable has dimensions");
      }
      if (most != 0 && at_ > begin + most) in_.fail("more values than the variable holds");
      if (!in_.accept(",")) break;
    }
    in_.expect("}");
  }

  // Bytes of symbols, as in 0xFF00(name), make up whole addresses.
  void finish() {
    for (const std::uint8_t bytes : bytes_of_address_)
      if (bytes != 8) in_.fail("an address of which not all eight bytes are there");
  }
  std::uint64_t at() const { return at_; }

 private:
  void read_element() {
    if (in_.at(Token::Kind::word)) return read_address();
    const Token first = in_.next();
    const Constant value = read_constant(in_);
    if (in_.at("(")) return read_byte_of_address(first, value);
    put(value, first.line);
  }

  void put(const Constant& value, int line) {
    std::uint64_t bits = value.bits;
    const bool is_real = variable_.type == Type::f32 || variable_.type == Type::f64;
    if (value.width != 0 && !is_real)
      Lexer::fail_at(line, "a real number in a variable of integers");
    if (value.width == 8 && variable_.type == Type::f32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    if (value.width == 4 && variable_.type == Type::f64)
      bits = std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    make_room();
    for (std::uint64_t i = 0; i < width_ && i < 8; ++i)
      variable_.initial[at_ + i] = static_cast<std::byte>(bits >> 8 * i);
    at_ += width_;
  }

  void make_room() {
    if (at_ + width_ > most_bytes)
      in_.fail(fmt::format("an initial value of more than {} bytes", most_bytes));
    if (variable_.initial.size() < at_ + width_) variable_.initial.resize(at_ + width_);
  }

  Variable::Relocation read_symbol() {
    Variable::Relocation symbol;
    symbol.generic = in_.accept("generic");
    if (symbol.generic) in_.expect("(");
    symbol.symbol = in_.expect(Token::Kind::word, "a name").text;
    if (symbol.generic) {
      symbol.add = read_offset(in_);
      in_.expect(")");
    }
    symbol.add += read_offset(in_);
    return symbol;
  }

  void read_address() {
    const int line = in_.next().line;
    Variable::Relocation address = read_symbol();
    if (width_ != 8) Lexer::fail_at(line, "an address needs a variable of 64 bits");
    make_room();
    address.at = at_;
    at_ += width_;
    variable_.relocations.push_back(std::move(address));
    bytes_of_address_.push_back(8);
  }

  // 0xFF00(name) is the second byte of the address.
  void read_byte_of_address(const Token& mask, const Constant& value) {
    const int byte = std::countr_zero(value.bits) / 8;
    const bool is_one_byte = byte < 8 && value.bits == std::uint64_t{0xff} << 8 * byte;
    if (value.width != 0 || !is_one_byte || width_ != 1)
      Lexer::fail_at(mask.line, "a mask of an address is one byte of it, in a variable of bytes");
    in_.expect("(");
    Variable::Relocation address = read_symbol();
    in_.expect(")");
    make_room();
    if (byte == 0) {
      address.at = at_;
      variable_.relocations.push_back(std::move(address));
      bytes_of_address_.push_back(1);
    } else {
      const auto begun = [&](const Variable::Relocation& last) {
        return last.at + static_cast<std::uint64_t>(byte) == at_ && last.symbol == address.symbol &&
               last.add == address.add && last.generic == address.generic;
      };
      if (variable_.relocations.empty() || bytes_of_address_.back() != byte ||
          !begun(variable_.relocations.back()))
        Lexer::fail_at(mask.line, "the bytes of an address do not follow each other");
      ++bytes_of_address_.back();
    }
    ++at_;
  }

  Lexer& in_;
  Variable& variable_;
  std::uint64_t width_;
  std::vector<std::uint64_t> row_bytes_;  // of an element of each dimension
  std::uint64_t at_ = 0;
  std::vector<std::uint8_t> bytes_of_address_;  // how many were there, of each relocation
};

}  // namespace

void read_initial(Lexer& in, Variable& variable, const std::vector<std::uint64_t>& dimensions) {
  Initial initial(in, variable, dimensions);
  initial.read(0, variable.bytes);
  initial.finish();
  if (variable.bytes == 0) variable.bytes = initial.at();
}

}  // namespace ptx
