// printf in kernels: what a thread prints is one piece of the output.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr std::size_t most_printed = 1 << 20;  // bytes in a launch, as CUDA has it at first
constexpr int widest = 4096;

// The arguments lie one after the other, each at a multiple of its size.
class Arguments {
 public:
  Arguments(const Op* op, Warp& w, int lane, uint64_t at) : op_(op), w_(w), lane_(lane), at_(at) {}

  // False after a finding.
  bool take(int bytes, uint64_t& bits) {
    const auto size = static_cast<uint64_t>(bytes);
    at_ = (at_ + size - 1) / size * size;
    uint32_t unwritten = 0;
    const std::byte* from =
        reach_generic(w_, {.op = op_, .lane = lane_, .address = at_, .bytes = bytes}, unwritten);
    if (from == nullptr) return false;
    bits = 0;
    std::memcpy(&bits, from, size);
    at_ += size;
    return true;
  }

 private:
  const Op* op_;
  Warp& w_;
  int lane_;
  uint64_t at_;
};

struct Conversion {
  std::string flags;  // "%-+ 0#", and digits of width and precision
  char letter = 0;
  bool is_long = false;
};

bool append_number(std::string& out, const Conversion& c, Arguments& from) {
  char text[widest + 64];
  uint64_t bits = 0;
  if (std::strchr("aAeEfFgG", c.letter) != nullptr) {
    if (!from.take(8, bits)) return false;
    std::snprintf(text, sizeof text, (c.flags + c.letter).c_str(), std::bit_cast<double>(bits));
  } else if (c.letter == 'p') {
    if (!from.take(8, bits)) return false;
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  } else if (c.letter == 'c') {
    if (!from.take(4, bits)) return false;
    std::snprintf(text, sizeof text, (c.flags + c.letter).c_str(), static_cast<int>(bits));
  } else {
    if (!from.take(c.is_long ? 8 : 4, bits)) return false;
    const bool is_signed = c.letter == 'd' || c.letter == 'i';
    const long long value = !c.is_long && is_signed
                                ? static_cast<std::int32_t>(static_cast<uint32_t>(bits))
                                : static_cast<long long>(bits);
    std::snprintf(text, sizeof text, (c.flags + "ll" + c.letter).c_str(), value);
  }
  out += text;
  return true;
}
bool append_text(std::string& out, const Conversion& c, Warp& w, Arguments& from) {
  uint64_t bits = 0;
  if (!from.take(8, bits)) return false;
  char text[widest + 64];
  std::snprintf(text, sizeof text, (c.flags + "s").c_str(),
                bits == 0 ? "(null)" : text_at(w, bits, widest));
  out += text;
  return true;
}

// Digits, or an argument in the place of "*".
bool take_count(std::string& to, const char*& format, Arguments& from) {
  int count = 0;
  if (*format == '*') {
    uint64_t bits = 0;
    if (!from.take(4, bits)) return false;
    count = static_cast<std::int32_t>(static_cast<uint32_t>(bits));
    ++format;
  } else {
    while (*format >= '0' && *format <= '9')
      count = std::min(count * 10 + (*format++ - '0'), widest);
  }
  if (count != 0) to += std::to_string(std::clamp(count, -widest, widest));
  return true;
}

// What printf makes of a format and arguments; false after a finding.
bool print(std::string& out, const char* format, Warp& w, Arguments from) {
  while (*format != 0) {
    if (*format != '%') {
      out += *format++;
      continue;
    }
    const char* const begin = format++;
    Conversion c{.flags = "%"};
    while (*format != 0 && std::strchr("-+ 0#", *format) != nullptr) c.flags += *format++;
    if (!take_count(c.flags, format, from)) return false;
    if (*format == '.') {
      c.flags += *format++;
      if (!take_count(c.flags, format, from)) return false;
    }
    for (; *format != 0 && std::strchr("hlLjzt", *format) != nullptr; ++format)
      c.is_long |= *format != 'h';
    c.letter = *format;
    if (c.letter != 0) ++format;
    if (c.letter == '%')
      out += '%';
    else if (c.letter == 's') {
      if (!append_text(out, c, w, from)) return false;
    } else if (c.letter != 0 && std::strchr("diouxXcpaAeEfFgG", c.letter) != nullptr) {
      if (!append_number(out, c, from)) return false;
    } else {
      out.append(begin, format);
    }
  }
  return true;
}

// a: the format, b: where the arguments lie.
const Op* print_each(const Op* op, Warp& w) {
  std::string& out = w.block->run->printed;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (out.size() >= most_printed) return op + 1;
    const char* format = text_at(w, w.slot<uint64_t>(op->a)[lane]);
    if (!print(out, format, w, {op, w, lane, w.slot<uint64_t>(op->b)[lane]})) return nullptr;
  }
  return op + 1;
}

}  // namespace

void add_print_handlers(Handlers& to) { to["print"] = {print_each, ""}; }

}  // namespace ptx
