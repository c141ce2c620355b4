#include "base/elf.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"

namespace assay {
namespace {

constexpr std::uint32_t type_symbols = 2, type_rela = 4, type_no_bytes = 8, type_rel = 9;
constexpr std::uint64_t header_bytes = 64, section_bytes = 64, symbol_bytes = 24;
constexpr std::uint64_t segment_bytes = 56;

// A table of `count` entries, each as long as the format says and the header repeats.
std::string_view table(std::string_view bytes, std::uint64_t at, std::uint64_t count,
                       std::uint64_t entry, std::uint64_t expected, std::string_view what) {
  if (count == 0) return {};
  if (entry != expected) {
    throw BadInput(fmt::format("{} has entries of {} bytes instead of {}", what, entry, expected));
  }
  return part(bytes, at, count * expected, what);  // counts have 16 bits here
}

std::string_view text_at(std::string_view strings, std::uint64_t at, std::string_view what) {
  const auto end = at < strings.size() ? strings.find('\0', at) : strings.npos;
  if (end == strings.npos) throw BadInput(fmt::format("the name of {} is damaged", what));
  return strings.substr(at, end - at);
}

const Section& linked(const Elf& elf, const Section& section) {
  if (section.link >= elf.sections.size()) {
    throw BadInput(fmt::format("section '{}' asks for section {} of {}", section.name, section.link,
                               elf.sections.size()));
  }
  return elf.sections[section.link];
}

std::vector<Section> read_sections(std::string_view bytes, std::string_view entries,
                                   std::uint16_t names) {
  std::vector<Section> sections;
  std::vector<std::uint32_t> name_offsets;
  for (; !entries.empty(); entries.remove_prefix(section_bytes)) {
    Section s;
    name_offsets.push_back(number_at<std::uint32_t>(entries, 0));
    s.type = number_at<std::uint32_t>(entries, 4);
    s.flags = number_at<std::uint64_t>(entries, 8);
    s.size = number_at<std::uint64_t>(entries, 32);
    s.link = number_at<std::uint32_t>(entries, 40);
    s.info = number_at<std::uint32_t>(entries, 44);
    if (s.type != type_no_bytes && s.size != 0) {
      s.bytes = part(bytes, number_at<std::uint64_t>(entries, 24), s.size,
                     fmt::format("section {}", sections.size()));
    }
    sections.push_back(s);
  }
  if (names >= sections.size()) throw BadInput("the section that holds the names is missing");
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name =
        text_at(sections[names].bytes, name_offsets[i], fmt::format("section {}", i));
  }
  return sections;
}

void read_symbols(Elf& elf, const Section& section) {
  const std::string_view strings = linked(elf, section).bytes;
  std::string_view entries = section.bytes;
  if (entries.size() % symbol_bytes != 0) throw BadInput("the table of symbols is damaged");
  for (; !entries.empty(); entries.remove_prefix(symbol_bytes)) {
    Symbol s;
    s.name = text_at(strings, number_at<std::uint32_t>(entries, 0),
                     fmt::format("symbol {}", elf.symbols.size()));
    s.type = number_at<std::uint8_t>(entries, 4) & 15;
    s.other = number_at<std::uint8_t>(entries, 5);
    s.section = number_at<std::uint16_t>(entries, 6);
    s.value = number_at<std::uint64_t>(entries, 8);
    s.size = number_at<std::uint64_t>(entries, 16);
    elf.symbols.push_back(s);
  }
}

}  // namespace

std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size,
                      std::string_view what) {
  if (at > bytes.size() || size > bytes.size() - at) {
    throw BadInput(
        fmt::format("{} lies outside of the file, which has {} bytes: it is damaged or "
                    "cut off",
                    what, bytes.size()));
  }
  return bytes.substr(at, size);
}

Elf read_elf(std::string_view bytes) {
  constexpr std::string_view magic("\177ELF\2\1\1", 7);  // 64 bits, little-endian, version 1
  if (!bytes.starts_with(magic)) throw BadInput("it does not begin as an ELF64 file does");
  Elf elf;
  elf.abi_version = number_at<std::uint8_t>(bytes, 8);
  elf.machine = number_at<std::uint16_t>(bytes, 18);
  elf.flags = number_at<std::uint32_t>(bytes, 48);

  const auto segments_at = number_at<std::uint64_t>(bytes, 32);
  const auto sections_at = number_at<std::uint64_t>(bytes, 40);
  const std::string_view segments =
      table(bytes, segments_at, number_at<std::uint16_t>(bytes, 56),
            number_at<std::uint16_t>(bytes, 54), segment_bytes, "the table of segments");
  const std::string_view entries =
      table(bytes, sections_at, number_at<std::uint16_t>(bytes, 60),
            number_at<std::uint16_t>(bytes, 58), section_bytes, "the table of sections");
  elf.sections = read_sections(bytes, entries, number_at<std::uint16_t>(bytes, 62));

  const auto end_of = [&](std::string_view piece) {
    return piece.empty() ? 0
                         : static_cast<std::uint64_t>(piece.data() + piece.size() - bytes.data());
  };
  elf.extent = std::max({header_bytes, end_of(segments), end_of(entries)});
  for (const Section& s : elf.sections) elf.extent = std::max(elf.extent, end_of(s.bytes));

  for (const Section& s : elf.sections) {
    if (s.type == type_symbols) read_symbols(elf, s);
  }
  return elf;
}

std::vector<Relocation> Elf::relocations_of(std::size_t section) const {
  std::vector<Relocation> all;
  for (const Section& s : sections) {
    if ((s.type != type_rel && s.type != type_rela) || s.info != section) continue;
    const std::uint64_t entry = s.type == type_rela ? 24 : 16;
    if (s.bytes.size() % entry != 0) {
      throw BadInput(fmt::format("the table of relocations '{}' is damaged", s.name));
    }
    for (std::uint64_t at = 0; at < s.bytes.size(); at += entry) {
      Relocation r;
      r.at = number_at<std::uint64_t>(s.bytes, at);
      r.type = number_at<std::uint32_t>(s.bytes, at + 8);
      r.symbol = number_at<std::uint32_t>(s.bytes, at + 12);
      if (s.type == type_rela) r.addend = number_at<std::int64_t>(s.bytes, at + 16);
      if (r.symbol >= symbols.size() || r.at >= sections[section].size) {
        throw BadInput(fmt::format("a relocation in '{}' is damaged", s.name));
      }
      all.push_back(r);
    }
  }
  return all;
}

}  // namespace assay
