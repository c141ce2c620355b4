// Files that are written whole or not at all: what was there before stays until all of the new text
// is safely on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

// Replaces a file, or makes a new one. Throws BadInput if it cannot be written; then an old file is
// untouched.
void write_whole(const std::filesystem::path&, std::string_view text);

// A file that a command was asked to write, known to be writable before any work is done.
class OutputFile {
 public:
  // An empty name is no file, "-" is stdout. Throws BadInput if the file could not be written.
  explicit OutputFile(std::string name);

  explicit operator bool() const { return !name_.empty(); }
  void write(const std::string& text) const;

 private:
  bool is_replaced() const;  // as whole files are, unlike devices and pipes

  std::string name_;
  std::filesystem::path target_;  // where links lead to
};

}  // namespace assay
