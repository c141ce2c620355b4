#include "base/silence.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace assay {
namespace {

void move_to(int place, int stream) {
  if (place == -1) return;  // there is none to spare: it prints
  dup2(place, stream);
  close(place);
}

int replaced_by_nothing(int stream) {
  const int before = fcntl(stream, F_DUPFD_CLOEXEC, 0);
  if (before != -1) move_to(open("/dev/null", O_WRONLY | O_CLOEXEC), stream);
  return before;
}

}  // namespace

Silence::Silence() {
  std::fflush(nullptr);
  out_ = replaced_by_nothing(STDOUT_FILENO);
  err_ = replaced_by_nothing(STDERR_FILENO);
}

Silence::~Silence() {
  std::fflush(nullptr);
  move_to(out_, STDOUT_FILENO);
  move_to(err_, STDERR_FILENO);
}

}  // namespace assay
