// Files of the ladder that this build does not compile, so that a command that is asked for a
// variant of them can say so.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

struct LeftOutFile {
  std::string_view path;
  std::string_view words;   // between quotes in it, each between two blanks: among them, its names
  std::string_view needs;   // what takes it, such as "a GPU"
  std::string_view preset;  // that compiles it
};

void leave_out(std::span<const LeftOutFile> files);

// Why this build has no such variant; empty where no file has that name in it.
std::string why_left_out(const std::string& variant);

}  // namespace assay
