// Alone in its file: cli/installed.cpp has another one, and where a program brings that, the linker
// leaves this one in the library.
#include "base/project.h"

namespace assay {

const Project& project() {
  static const Project ours = {ASSAY_SOURCE_PATH, ASSAY_SOURCE_PATH "/properties/corpus.txt",
                               ASSAY_SOURCE_PATH "/baselines", "ci/get-nvcc fetches one"};
  return ours;
}

}  // namespace assay
