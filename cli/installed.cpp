// Makes the installed program one without a project of its own: see base/project.h. What failed is
// kept with the compiled files, and baselines are those in the folder where it is called.
#include <filesystem>

#include "base/project.h"
#include "door/cache.h"

namespace assay {

const Project& project() {
  static const Project of_the_caller = {std::filesystem::current_path().string(),
                                        (Cache("").folder() / "corpus.txt").string(), "baselines",
                                        "install NVIDIA's CUDA toolkit 13", false};
  return of_the_caller;
}

}  // namespace assay
