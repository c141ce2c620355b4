#include "properties/aims/places.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/child_process.h"
#include "base/project.h"

namespace assay {
namespace {

// What the build calls the root of the sources in the debug information.
constexpr std::string_view root_of_sources = "/assay/";
constexpr std::string_view of_the_author =
    "/assay:";  // then where a file lies that is none of ours

// Whether text, such as "<_Z3minIllE...>", has the name of a function that only chooses a value.
bool names_helper(std::string_view text) {
  constexpr std::array names = {"<_Z3minI", "<_Z3maxI", "<_ZSt3minI", "<_ZSt3maxI", "<_ZSt5clampI"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return text.find(name) != text.npos; });
}

// Reads the disassembly line by line. What is compared is known after a call of the watch:
//
//   /src/kernels/tiled.cu:57 (discriminator 1)
//       1234:	call   1050 <__sanitizer_cov_trace_const_cmp8@plt>
//       1239:	cmpq   $0x7ff,-0x30(%rbp)
//       1240:	jle    1266 <...>
class Disassembly {
 public:
  explicit Disassembly(const std::byte* base) : base_(base) {}

  void read(std::string_view line) {
    const auto colon = line.find(":\t");
    if (const auto tab = line.find('\t'); tab != line.npos && colon == line.npos) {
      read_symbol(line.substr(0, tab), line.substr(tab + 1));
    } else if (colon == line.npos) {
      if (line.ends_with(">:")) in_helper_ = names_helper(line);
      read_place(line);
    } else {
      std::uintptr_t address = 0;
      const auto digits = line.substr(line.find_first_not_of(' '));
      std::from_chars(digits.data(), line.data() + colon, address, 16);
      read_instruction(base_ + address, line.substr(colon + 2));
    }
  }
  Code code() && { return std::move(code_); }
  const Place& here() const { return here_; }

 private:
  // "FILE:LINE", perhaps with a remark behind.
  void read_place(std::string_view line) {
    line = line.substr(0, line.find(" (discriminator"));
    const auto colon = line.rfind(':');
    if (colon == line.npos || !line.starts_with('/')) return;
    int number = 0;
    const auto [end, error] =
        std::from_chars(line.data() + colon + 1, line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size()) return;
    std::string_view written = line.substr(0, colon);
    const bool is_given = written.starts_with(of_the_author);
    if (is_given) written.remove_prefix(of_the_author.size());
    std::string file = std::filesystem::path(written).lexically_normal().string();
    if (file.starts_with(root_of_sources)) file = file.substr(root_of_sources.size());
    here_ = {.file = std::move(file), .line = number, .is_given = is_given};
  }

  // "000000000000b040 l     O .bss", and its size before its name.
  void read_symbol(std::string_view kind, std::string_view size_and_name) {
    if (!kind.ends_with(" O .bss") && !kind.ends_with(" O .data")) return;
    std::int64_t bytes = 0;
    const std::string_view size = size_and_name.substr(0, size_and_name.find(' '));
    std::from_chars(size.data(), size.data() + size.size(), bytes, 16);
    if (bytes > 0) code_.variables.push_back(bytes);
  }

  void read_instruction(const std::byte* address, std::string_view text) {
    const bool makes_float = text.starts_with("cvtsi2ss") || text.starts_with("vcvtsi2ss");
    code_.makes_floats |= makes_float && is_of_the_author(here_);
    if (after_call_) {
      // What nvcc makes of <<<>>> asks whether it may launch, which nobody wrote.
      open_ = &(code_.places[address] = std::exchange(after_push_, false) ? Place{} : here_);
      open_->decides_branch = is_switch_;
      open_->is_in_helper = in_helper_;
      after_call_ = false;
    }
    if (after_helper_) code_.places.try_emplace(address, here_);
    const bool call = text.starts_with("call");
    if (open_ != nullptr && (call || text.starts_with("set"))) open_ = nullptr;
    if (open_ != nullptr && text.starts_with('j')) {
      open_->decides_branch |= !text.starts_with("jmp");
      open_ = nullptr;
    }
    after_helper_ = call && names_helper(text);
    after_push_ |= call && text.find("<__cudaPushCallConfiguration") != text.npos;
    is_switch_ = call && text.find("<__sanitizer_cov_trace_switch") != text.npos;
    after_call_ = is_switch_ || (call && (text.find("<__sanitizer_cov_trace_cmp") != text.npos ||
                                          text.find("<__sanitizer_cov_trace_const") != text.npos));
  }

  const std::byte* base_;
  Code code_;
  Place here_;
  Place* open_ = nullptr;  // until the next branch shows what its comparison is for
  bool after_call_ = false, after_helper_ = false, is_switch_ = false, in_helper_ = false,
       after_push_ = false;
};

}  // namespace

Code code_beside(const void* code) {
  Dl_info library;
  if (dladdr(code, &library) == 0 || library.dli_fname == nullptr)
    throw std::runtime_error("the library of the build that is watched cannot be found");
  const ProgramOutput output =
      output_of("objdump", {"-t", "-d", "-l", "--no-show-raw-insn", library.dli_fname});
  if (output.code == 127)
    throw std::runtime_error("naming comparisons takes objdump, which binutils has");
  Disassembly disassembly(static_cast<const std::byte*>(library.dli_fbase));
  std::istringstream lines(output.text);
  for (std::string line; std::getline(lines, line);) disassembly.read(line);
  Code found = std::move(disassembly).code();
  if (output.code != 0 || found.places.empty())
    throw std::runtime_error(fmt::format("objdump sees no comparison in {}", library.dli_fname));
  return found;
}

std::optional<Place> place_before(const void* code) {
  static std::mutex mutex;
  static std::map<const void*, Place> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(code); found == known.end()) {
    Dl_info library;
    if (dladdr(code, &library) == 0 || library.dli_fname == nullptr) return std::nullopt;
    const auto end =
        static_cast<const std::byte*>(code) - static_cast<const std::byte*>(library.dli_fbase);
    Disassembly disassembly(nullptr);
    std::istringstream lines(
        output_of("objdump", {"-d", "-l", fmt::format("--start-address={:#x}", end - 1),
                              fmt::format("--stop-address={:#x}", end), library.dli_fname})
            .text);
    for (std::string line; std::getline(lines, line);) disassembly.read(line);
    known[code] = disassembly.here();
  }
  const Place& place = known[code];
  return place.file.empty() ? std::nullopt : std::optional(place);
}

bool is_of_the_author(const Place& place) {
  if (place.is_given) return true;
  const auto begins = [&](const char* folder) { return place.file.starts_with(folder); };
  const auto has = [&](const char* part) { return place.file.find(part) != place.file.npos; };
  const bool is_of_a_library = has("/include/") || has(".cudafe1.");
  return !place.file.empty() && !begins("/usr/") && !is_of_a_library && !begins("simt/cuda/") &&
         place.file != "kernels/gemm.h" && place.file != "kernels/register.h";
}

std::string source_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(project().folder) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string source_line(const Place& place, int line) {
  std::istringstream file(source_of(place.file));
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(file, text)) return "";
  }
  const auto begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace assay
