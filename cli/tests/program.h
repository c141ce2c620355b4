// Runs the program `assay` as people do, and keeps what it said.
#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay::tests {

struct Answer {
  int code = 0;  // 128 + the number of the signal that ended it
  std::string out, err;

  std::vector<std::string> lines() const;  // of `out`
  std::string last_line() const;           // of `out`
};

struct Circumstances {
  const char* program = ASSAY_PROGRAM;
  std::map<std::string, std::string> environment = {};
  std::string stdout_file = {};         // instead of being kept
  std::string stderr_file = {};         // instead of being kept; "-" closes it
  bool on_terminal = false;             // both streams, kept in `out`
  rlim_t largest_file = RLIM_INFINITY;  // bytes; writing more fails
};

// As on a computer without a GPU.
Answer run(const std::vector<std::string>& arguments, const Circumstances& = {});

// Whether a terminal can be opened here, for `on_terminal`. Where not, skip the test by this
// reason.
bool has_terminal();
inline constexpr const char* no_terminal = "no terminal can be opened here: see /dev/ptmx";

// One line on stderr, nothing on stdout, exit 2.
void expect_bad_input(const Answer&, const std::string& message);

// The words of a command line, as a shell would see them; quotes group.
std::vector<std::string> words_of(const std::string& line);

// A folder that goes when the test ends.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const;  // of the files in it

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& file);
void write_text(const std::string& file, const std::string& text);

}  // namespace assay::tests
