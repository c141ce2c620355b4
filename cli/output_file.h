// A file that a command was asked to write. It is known to be writable before any work is done, and
// it is written whole or not at all: what was there before stays until all of the new text is safe.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

class OutputFile {
 public:
  // An empty name is no file, "-" is stdout. Throws BadInput if the file could not be written.
  explicit OutputFile(std::string name);

  explicit operator bool() const { return !name_.empty(); }
  // Throws BadInput where the text could not be written; then an old file is untouched.
  void write(const std::string& text) const;

 private:
  bool is_replaced() const;  // as whole files are, unlike devices and pipes

  std::string name_;
  std::filesystem::path target_;  // where links lead to
};

}  // namespace assay
