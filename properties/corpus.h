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

// Blank lines and lines that begin with # say nothing. A file that is not there is empty. Throws
// BadInput that names the file and the line it cannot read.
std::vector<CorpusLine> read_corpus(const std::filesystem::path&);

// Adds a line unless it is there already. Throws BadInput if the file cannot be written.
void append_to_corpus(const std::filesystem::path&, const CorpusLine&);

}  // namespace assay
