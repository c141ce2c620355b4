#include "properties/corpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/errors.h"

namespace assay {
namespace {

CorpusLine parse_line(const std::string& line) {
  const auto colon = line.find(':');
  if (colon == line.npos) throw BadInput("it is not 'claim: case'");
  return {&claim_named(line.substr(0, colon)), parse_case(line.substr(colon + 1))};
}

// A file that no other process can lock while this object lives.
class LockedFile {
 public:
  explicit LockedFile(const std::filesystem::path& path)
      : path_(path),
        descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail();
    flock(descriptor_, LOCK_EX);
  }
  ~LockedFile() { close(descriptor_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  bool ends_in_a_line() const {
    char last = '\n';
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    return size <= 0 || (pread(descriptor_, &last, 1, size - 1) == 1 && last == '\n');
  }
  // Whole or not at all.
  void append(const std::string& text) const {
    const off_t before = lseek(descriptor_, 0, SEEK_END);
    errno = ENOSPC;
    if (write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
    const int error = errno;
    if (before >= 0 && ftruncate(descriptor_, before) != 0) errno = error;
    errno = error;
    fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw BadInput(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
  }
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace

std::vector<CorpusLine> read_corpus(const std::filesystem::path& path) {
  std::vector<CorpusLine> lines;
  if (!std::filesystem::exists(path)) return lines;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw BadInput(fmt::format("{}: cannot be read", path.string()));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos || line.front() == '#') continue;
    try {
      lines.push_back(parse_line(line));
    } catch (const BadInput& error) {
      throw BadInput(
          fmt::format("{}:{}: {}; mend or delete the line", path.string(), number, error.what()));
    }
  }
  return lines;
}

void append_to_corpus(const std::filesystem::path& path, const CorpusLine& line) {
  const LockedFile file(path);  // tests of several variants may run at once
  const auto known = read_corpus(path);
  if (std::find(known.begin(), known.end(), line) != known.end()) return;
  file.append(fmt::format("{}{}: {}\n", file.ends_in_a_line() ? "" : "\n", line.claim->name,
                          to_string(line.c)));
}

}  // namespace assay
