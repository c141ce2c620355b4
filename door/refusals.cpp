#include "door/refusals.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Complaint {
  std::string file, text;
  int line = 0;
  std::string included_at;  // "mine.cu:2", where that file asked for the one with the complaint
};

std::optional<Complaint> first_complaint(const std::string& said) {
  static const std::regex pattern(R"(^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$)");
  std::istringstream lines(said);
  std::smatch match;
  static const std::regex inclusion(R"(^(?:In file included| +) from (.+?:\d+)[,:]$)");
  std::string included_at;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, inclusion)) included_at = match[1];
    if (std::regex_match(line, match, pattern))
      return Complaint{match[1], match[3], std::stoi(match[2]), included_at};
  }
  return std::nullopt;
}

std::string line_of(const std::string& file, int number) {
  std::ifstream stream(file);
  std::string line;
  while (number-- > 0 && std::getline(stream, line)) continue;
  return line;
}

// What stands between the two in one line; empty where they do not stand so.
std::string between(const std::string& text, const char* opening, const char* closing) {
  const std::size_t at = text.find(opening);
  if (at == text.npos) return "";
  const std::size_t begin = at + std::string_view(opening).size(), end = text.find(closing, begin);
  const bool in_one_line = end != text.npos && end < text.find('\n', begin);
  return in_one_line ? text.substr(begin, end - begin) : "";
}

bool is_of_cuda(const std::string& header) {
  const fs::path folder = fs::path(header).parent_path();
  return fs::exists(folder / "cuda_runtime.h") || fs::exists(folder / ".." / "cuda_runtime.h");
}

}  // namespace

std::string why_not_taken(const std::string& said) {
  if (said.find("Assembler messages") != said.npos)
    return "it has PTX in asm(), which only nvcc takes";
  if (const auto complaint = first_complaint(said)) {
    const auto near = [](const std::string& file) {
      const std::string relative = fs::path(file).lexically_proximate(fs::current_path());
      return relative.starts_with("..") ? file : relative;
    };
    const std::string place = fmt::format("{}:{}", near(complaint->file), complaint->line);
    if (!complaint->included_at.empty() && is_of_cuda(complaint->file))
      return fmt::format("{} includes a header that only nvcc takes", near(complaint->included_at));
    const std::string line = line_of(complaint->file, complaint->line);
    if (line.find("<<<") != line.npos)
      return fmt::format("{} launches with <<<>>>, which only nvcc takes", place);
    if (line.find("asm") != line.npos)
      return fmt::format("{} has PTX in asm(), which only nvcc takes", place);
    return fmt::format("{}: {}", place, complaint->text);
  }
  const std::string missing = between(said, "undefined reference to `", "'");
  if (!missing.empty())
    return fmt::format("{} is not there: extern __shared__, and libraries, are for nvcc alone",
                       missing);
  return "g++ does not take it";
}

std::string cure_for(const std::string& said) {
  const bool has_no_room = said.find("No space left on device") != said.npos ||
                           said.find("when writing output to") != said.npos;
  if (has_no_room) return ": the disk is full; set TMPDIR to a folder with room";
  const std::string header = between(said, "fatal error: ", ": No such file or directory");
  if (!header.empty()) return fmt::format(": name the folder of {} with -I", header);
  if (said.find("unsupported GNU version") != said.npos)
    return ": this nvcc is too old for this g++; name another g++ with NVCC_CCBIN";
  const std::string missing = between(said, "undefined reference to `", "'");
  if (!missing.empty())
    return fmt::format(": the PTX machine has no {}; keep what calls it out of the file", missing);
  return "";
}

}  // namespace assay
