// Reads the frame of a little-endian ELF64 file: sections, symbols, relocations. Checks every
// offset against the file, and throws BadInput where the file is damaged or cut off. All that it
// returns are views into the given bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace assay {

inline constexpr std::uint16_t machine_cuda = 190;

struct Section {
  std::string_view name, bytes;  // `bytes` is empty for a section that has only a size
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t flags = 0, size = 0;
};

struct Symbol {
  std::string_view name;
  unsigned type = 0, other = 0;
  std::uint16_t section = 0;  // 0: it is defined elsewhere
  std::uint64_t value = 0, size = 0;
};

struct Relocation {
  std::uint64_t at = 0;  // bytes into the section
  std::uint32_t type = 0, symbol = 0;
  std::int64_t addend = 0;
};

struct Elf {
  std::uint16_t machine = 0;
  unsigned abi_version = 0;
  std::uint32_t flags = 0;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::uint64_t extent = 0;  // where the file ends; the bytes may go on behind it

  // What a loader patches in a section before it is used.
  std::vector<Relocation> relocations_of(std::size_t section) const;
};

Elf read_elf(std::string_view bytes);

// Some of the bytes. Throws BadInput that names `what` if they lie outside.
std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size,
                      std::string_view what);

template <class Number>
Number number_at(std::string_view bytes, std::uint64_t at) {
  static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");
  Number number;
  std::memcpy(&number, part(bytes, at, sizeof number, "a number").data(), sizeof number);
  return number;
}

// Calls visit(attribute, value) for each attribute of a section .nv.info, of one kernel or of all.
template <class Visit>
void for_each_attribute(std::string_view info, Visit&& visit) {
  constexpr std::uint8_t has_size = 4;
  for (std::uint64_t at = 0; at < info.size();) {
    const auto format = number_at<std::uint8_t>(info, at);
    const auto attribute = number_at<std::uint8_t>(info, at + 1);
    const auto two_bytes = number_at<std::uint16_t>(info, at + 2);
    const std::uint64_t begin = format == has_size ? at + 4 : at + 2;
    const std::uint64_t size = format == has_size ? two_bytes : 2;
    if (size > info.size() - begin) throw BadInput("the attributes of its kernels are damaged");
    visit(attribute, info.substr(begin, size));
    at = begin + size;
  }
}
inline constexpr std::uint8_t register_count = 0x2f;  // in .nv.info: a symbol, and its registers

}  // namespace assay
