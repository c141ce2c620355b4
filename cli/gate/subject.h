// What `gate` and `accept` are about: variants of this program, or those of files, whose baselines
// lie beside them.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel_files.h"
#include "cli/origin.h"

namespace assay {

struct Subject {
  bool is_of_files = false, is_named = false;  // files, and names of variants, were given
  std::string folder;                          // of the sources
  Origin origin;
  std::vector<std::string> variants;  // for a GPU; empty means all of this program
  std::vector<std::string> worker;    // with what this program is started to time them
  Opened opened;

  const std::vector<std::string>& libraries() const { return opened.libraries; }
};

// Compiles and loads files where a GPU can be used. `words` are what a command line names, and come
// to be the names alone; `baselines` comes to be the files' own where it is this project's. Throws
// BadInput.
Subject subject_of(const KernelFiles&, std::vector<std::string> words, std::string& baselines);

}  // namespace assay
