#include "properties/corpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace assay {
namespace {

CorpusLine parse_line(const std::string& line) {
  const auto colon = line.find(':');
  if (colon == line.npos) throw BadInput("it is not 'claim: case'");
  return {&claim_named(line.substr(0, colon)), parse_case(line.substr(colon + 1))};
}

}  // namespace

std::vector<CorpusLine> read_corpus(const std::filesystem::path& path) {
  std::vector<CorpusLine> lines;
  std::ifstream file(path);
  if (!file && std::filesystem::exists(path))
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
  const auto fail = [&] {
    return BadInput(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw fail();
  flock(file, LOCK_EX);  // tests of several variants may run at once
  const auto known = read_corpus(path);
  if (std::find(known.begin(), known.end(), line) != known.end()) {
    close(file);
    return;
  }
  const std::string text = fmt::format("{}: {}\n", line.claim->name, to_string(line.c));
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const BadInput failure = fail();
  close(file);
  if (!whole) throw failure;
}

}  // namespace assay
