// Fat binaries, made as nvcc makes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptx::tests {

struct Content {
  std::uint16_t kind = 1;  // PTX; 2: machine code
  std::uint32_t header = 64;
  std::uint32_t architecture = 90;
  std::uint64_t flags = 0x11;
  std::uint64_t whole_size = 0;  // uncompressed
  std::string text = "text";
};

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes.at(at + i) = static_cast<char>(value >> 8 * i);
}

inline std::string container(const std::vector<Content>& contents, std::uint16_t header = 16) {
  std::string entries;
  for (const Content& content : contents) {
    std::string entry(content.header, '\0');
    put(entry, 0, content.kind);
    put(entry, 2, std::uint16_t{0x101});
    put(entry, 4, content.header);
    put(entry, 8, std::uint64_t{content.text.size()});
    put(entry, 28, content.architecture);
    put(entry, 40, content.flags);
    put(entry, 56, content.whole_size);
    entries += entry + content.text;
  }
  std::string whole(header, '\0');
  put(whole, 0, std::uint32_t{0xba55ed50});
  put(whole, 4, std::uint16_t{1});
  put(whole, 6, header);
  put(whole, 8, std::uint64_t{entries.size()});
  return whole + entries;
}

inline std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace ptx::tests
