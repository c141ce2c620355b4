#include "cli/accept/commit.h"

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/errors.h"

namespace assay {

std::string commit_of(const std::string& source, bool dirty_too) {
  const ProgramOutput head = output_of("git", {"-C", source, "rev-parse", "HEAD"});
  const ProgramOutput changes =
      output_of("git", {"-C", source, "status", "--porcelain", "--", ".", ":!baselines"});
  if (head.code != 0 || changes.code != 0) {
    throw BadInput(fmt::format(
        "{}: git knows no commit of these sources, so nobody could rebuild what is accepted",
        source));
  }
  if (changes.text.empty()) return head.text;
  if (!dirty_too) {
    throw BadInput(fmt::format(
        "{}: the sources differ from commit {}, so nobody could rebuild what is accepted: commit "
        "them first, or say --dirty",
        source, head.text.substr(0, 12)));
  }
  return head.text + "-dirty";
}

}  // namespace assay
