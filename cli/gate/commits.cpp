#include "cli/gate/commits.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/project.h"

namespace assay {

void check_commit(const char* flag, const std::string& ref) {
  const ProgramOutput known = output_of("git", {"-C", project().folder, "rev-parse", "--verify",
                                                "--quiet", "--end-of-options", ref + "^{commit}"});
  if (known.code != 0)
    throw BadInput(fmt::format("{} {}: git knows no commit of that name", flag, ref));
}

std::string kernels_at(const std::string& ref) {
  const std::string script = project().folder + "/ci/against";
  if (!std::filesystem::exists(script))
    throw BadInput("kernels of another commit are built from the sources of assay: not from here");
  const ProgramOutput built = output_of(script, {ref});
  if (built.code == 0) return built.text.substr(built.text.rfind('\n') + 1);
  throw UnfitEnvironment(
      fmt::format("the kernels of {} cannot be had: ci/against ended with {}", ref, built.code));
}

StoredAt::StoredAt(const std::string& ref) {
  std::string path = (std::filesystem::temp_directory_path() / "assay-base-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    throw BadInput(fmt::format("{}: cannot be made: {}", path, std::strerror(errno)));
  path_ = path;
  const std::string tar = path + "/tar";
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"-C", project().folder});
    return output_of("git", words);
  };
  if (git({"ls-tree", ref, "baselines"}).text.empty()) return;
  if (git({"archive", "--format=tar", "-o", tar, ref, "baselines"}).code != 0 ||
      output_of("tar", {"-xf", tar, "-C", path}).code != 0)
    throw BadInput(fmt::format("--base {}: git cannot hand out its baselines", ref));
}

StoredAt::~StoredAt() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay
