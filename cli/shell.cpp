#include "cli/shell.h"

#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>

namespace assay {
namespace {

// In single quotes nothing has a meaning but the quote itself.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

ProgramOutput output_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += quoted(word) + " ";
  std::FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("no process can be started: " + command);
  ProgramOutput output;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe))
    output.text.append(buffer, size);
  const int status = pclose(pipe);
  output.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (output.text.ends_with('\n')) output.text.pop_back();
  return output;
}

}  // namespace assay
