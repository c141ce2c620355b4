#include "regress/code/instructions.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "regress/code/elf.h"

namespace assay {
namespace {

struct Kind {
  unsigned opcode;
  const char* name;
  bool has_width = false;
};

// An instruction has 16 bytes. The 9 lowest bits say what it does, the 3 above them where its
// operands are.
constexpr std::size_t instruction_bytes = 16;
constexpr unsigned opcode_bits = 0x1ff;
constexpr std::array kinds = {
    Kind{0x020, "FMUL"},      Kind{0x021, "FADD"},         Kind{0x023, "FFMA"},
    Kind{0x037, "IMMA"},      Kind{0x03b, "LDSM"},         Kind{0x03c, "HMMA"},
    Kind{0x03f, "DMMA"},      Kind{0x11d, "BAR"},          Kind{0x180, "LD", true},
    Kind{0x181, "LDG", true}, Kind{0x183, "LDL", true},    Kind{0x184, "LDS", true},
    Kind{0x185, "ST", true},  Kind{0x186, "STG", true},    Kind{0x187, "STL", true},
    Kind{0x188, "STS", true}, Kind{0x1ae, "LDGSTS", true}, Kind{0x1f0, "HGMMA"},
};

// Bits 73 to 75 of an access to memory: signed and unsigned bytes, signed and unsigned halves ...
constexpr std::array widths = {".8", ".8", ".16", ".16", "", ".64", ".128", ""};

}  // namespace

std::map<std::string, int> count_instructions(std::string_view code, int architecture) {
  std::map<std::string, int> counts;
  if (architecture < 80 || architecture > 90) return counts;
  for (std::size_t at = 0; at < code.size(); at += instruction_bytes) {
    const auto low = number_at<std::uint64_t>(code, at);
    const auto high = number_at<std::uint64_t>(code, at + 8);
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const Kind& k) { return k.opcode == (low & opcode_bits); });
    if (kind == kinds.end()) continue;
    ++counts[std::string(kind->name) + (kind->has_width ? widths[high >> 9 & 7] : "")];
  }
  return counts;
}

}  // namespace assay
