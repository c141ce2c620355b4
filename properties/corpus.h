// The corpus: a text file of past failures, each a line `claim: case`, tried first on every run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/claims.h"

namespace assay {

struct CorpusLine {
  const Claim* claim;
  Case c;
  bool operator==(const CorpusLine&) const = default;
};

// Skips blank lines and lines that begin with #. A missing file counts as empty. Throws BadInput
// that names the file and the line that cannot be read.
std::vector<CorpusLine> read_corpus(const std::filesystem::path&);

// Adds a line that is not there yet. Throws BadInput if the file cannot be written.
void append_to_corpus(const std::filesystem::path&, const CorpusLine&);

}  // namespace assay
