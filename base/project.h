// The project whose kernels a program judges: where its sources, its past failures and its baselines
// are. The programs of a build have this one. The installed program has none of its own: it works
// for whoever calls it, and no folder of the build is named in it.
#pragma once

#include <string>

namespace assay {

struct Project {
  std::string folder, corpus, baselines;
  std::string nvcc_is_had;  // how, where there is none: the end of a sentence
  bool has_kernels = true;  // else it judges files alone
};

const Project& project();

}  // namespace assay
