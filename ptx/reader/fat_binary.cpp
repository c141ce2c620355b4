#include <fmt/format.h>

#include <cstring>

#include "base/elf.h"
#include "ptx/reader/reader.h"

namespace ptx {
namespace {

using Bytes = std::span<const std::byte>;

template <class T>
T read_at(Bytes bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.subspan(at, sizeof value).data(), sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& why) { throw BadPtx("the fat binary " + why); }

constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::size_t header_bytes = 16, entry_bytes = 64;

// What follows the header: one entry after the other.
Bytes entries_of(Bytes file) {
  if (file.size() < header_bytes) fail(fmt::format("is cut short: it has {} bytes", file.size()));
  const auto found = read_at<std::uint32_t>(file, 0);
  if (found != magic) fail(fmt::format("begins with {:#x}, not with {:#x}", found, magic));
  const auto version = read_at<std::uint16_t>(file, 4);
  if (version != 1) fail(fmt::format("has version {}, which is not known here", version));
  const auto header = read_at<std::uint16_t>(file, 6);
  const auto size = read_at<std::uint64_t>(file, 8);
  if (header < header_bytes || header > file.size() || size > file.size() - header)
    fail(fmt::format("is cut short: its header tells of {} + {} bytes, and there are {}", header,
                     size, file.size()));
  return file.subspan(header, size);
}

struct Entry {
  bool is_ptx = false, is_machine_code = false, is_compressed = false;
  std::uint32_t architecture = 0;
  Bytes payload;
};

Entry take_entry(Bytes& rest) {
  if (rest.size() < entry_bytes) fail("is cut short within an entry");
  const auto header = read_at<std::uint32_t>(rest, 4);
  const auto size = read_at<std::uint64_t>(rest, 8);
  if (header < entry_bytes || header > rest.size() || size > rest.size() - header)
    fail(fmt::format("is cut short: an entry tells of {} + {} bytes, and there are {}", header,
                     size, rest.size()));
  constexpr std::uint64_t compressed = 0xf000;  // 0x2000 is LZ4, 0x8000 Zstandard
  const auto kind = read_at<std::uint16_t>(rest, 0);
  const Entry entry{.is_ptx = kind == 1,
                    .is_machine_code = kind == 2,
                    .is_compressed = (read_at<std::uint64_t>(rest, 40) & compressed) != 0 ||
                                     read_at<std::uint64_t>(rest, 56) != 0,
                    .architecture = read_at<std::uint32_t>(rest, 28),
                    .payload = rest.subspan(header, size)};
  rest = rest.subspan(header + size);
  return entry;
}

// Adds what the machine code of a module says of its kernels.
void add_registers(std::string_view cubin, std::map<std::string, int>& registers) {
  const assay::Elf elf = assay::read_elf(cubin);
  for (const assay::Section& section : elf.sections) {
    if (section.name != ".nv.info") continue;
    assay::for_each_attribute(section.bytes, [&](std::uint8_t attribute, std::string_view value) {
      if (attribute != assay::register_count) return;
      const auto symbol = assay::number_at<std::uint32_t>(value, 0);
      if (symbol >= elf.symbols.size()) fail("holds machine code whose attributes are damaged");
      registers[std::string(elf.symbols[symbol].name)] =
          static_cast<int>(assay::number_at<std::uint32_t>(value, 4));
    });
  }
}

// Machine code for 9.0 runs on 9.1 too, and on no 10.0.
bool runs_on(unsigned architecture, unsigned compiled_for) {
  return compiled_for / 10 == architecture / 10 && compiled_for <= architecture;
}

}  // namespace

std::map<std::string, int> registers_within(Bytes fat_binary, unsigned architecture) {
  std::map<std::string, int> registers;
  for (Bytes rest = entries_of(fat_binary); !rest.empty();) {
    const Entry entry = take_entry(rest);
    if (!entry.is_machine_code || entry.is_compressed || !runs_on(architecture, entry.architecture))
      continue;
    try {
      add_registers({reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size()},
                    registers);
    } catch (const assay::BadInput& error) {
      fail(fmt::format("holds machine code that is damaged: {}", error.what()));
    }
  }
  return registers;
}

std::string_view ptx_within(Bytes fat_binary) {
  Entry newest;
  for (Bytes rest = entries_of(fat_binary); !rest.empty();) {
    const Entry entry = take_entry(rest);
    if (entry.is_ptx && (!newest.is_ptx || entry.architecture > newest.architecture))
      newest = entry;
  }
  if (!newest.is_ptx)
    throw BadPtx("compiled for machine code only: add -gencode arch=compute_90,code=compute_90");
  if (newest.is_compressed) throw BadPtx("the PTX is compressed: compile with --no-compress");
  const std::string_view text(reinterpret_cast<const char*>(newest.payload.data()),
                              newest.payload.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace ptx
