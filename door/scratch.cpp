#include "door/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/errors.h"

namespace assay {
namespace {

// Waits until nobody holds the other end any more.
[[noreturn]] void remove_in_the_end(const std::filesystem::path& folder, int end) {
  setsid();  // Ctrl-C is not for it
  char byte;
  while (read(end, &byte, 1) < 0 && errno == EINTR) continue;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace

Scratch::Scratch() {
  const char* const place = std::getenv("TMPDIR");
  std::string name =
      std::string(place == nullptr || *place == '\0' ? "/tmp" : place) + "/assay-XXXXXX";
  int ends[2];
  if (mkdtemp(name.data()) == nullptr || pipe2(ends, O_CLOEXEC) != 0)
    throw BadInput(fmt::format("{} cannot be made: {}; set TMPDIR to a folder with room", name,
                               std::strerror(errno)));
  folder_ = name;
  remover_ = fork();
  if (remover_ == 0) {
    close(ends[1]);
    remove_in_the_end(folder_, ends[0]);
  }
  close(ends[0]);
  alive_ = ends[1];
}

Scratch::~Scratch() {
  close(alive_);
  waitpid(remover_, nullptr, 0);
}

}  // namespace assay
