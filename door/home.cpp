#include "door/home.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace assay {

Home home() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& root : {folder, folder.parent_path()}) {
    const Home found{root / "include/assay", root / "lib/assay", root / "share/assay"};
    if (fs::exists(found.recipes / "simt.compile") && fs::exists(found.include / "assay.h"))
      return found;
  }
  throw UnfitEnvironment(fmt::format(
      "include/assay and share/assay are missing beside {}: build or install it anew, whole",
      folder.string()));
}

}  // namespace assay
