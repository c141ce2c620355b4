// Where this program's own files lie: in a build folder as where it is installed.
#pragma once

#include <filesystem>

namespace assay {

struct Home {
  std::filesystem::path include;  // assay.h, kernels/ and simt/
  std::filesystem::path lib;      // what libraries of kernels are linked with
  std::filesystem::path recipes;  // the flags with which the build compiled such libraries
};

// Throws UnfitEnvironment where they are missing.
Home home();

}  // namespace assay
