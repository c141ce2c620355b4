// Asks a launch function, without running a kernel, about problems that are chosen for what they
// would show.
#pragma once

#include <vector>

#include "properties/aims/dry_paths.h"

namespace assay {

// Few rows or columns may have kernels of their own, and what their blocks share may be no whole
// number of vectors.
std::vector<Case> long_lines(DryPaths&, const Needs&);

// Where parts of k are rounded up to whole slices, the last one may be empty. So for each number of
// parts come the least k that has it, and the first k that needs another slice in every part.
std::vector<Case> edges_of_parts(DryPaths&, const Variant&);

// Of sizes that stand together in a source, counted in whatever unit, those that are launched
// otherwise than their neighbours.
std::vector<Case> tuned_sizes(DryPaths&, const std::vector<Case>& named, const Variant&);

// A few of each magnitude, the cheapest first, where the machine can capture at all.
std::vector<Case> launched_otherwise_where_captured(DryPaths&, const Entry&);

}  // namespace assay
