// Stores what was accepted.
#pragma once

#include <filesystem>

#include "regress/store/baseline.h"

namespace assay {

// Replaces baselines/GPU/ as a whole, without the cubins that no record asks for. Throws BadInput,
// and changes nothing, where the disk or the baseline itself does not allow it. `folder` is
// baselines/.
void write_baseline(const std::filesystem::path& folder, const Baseline&);

}  // namespace assay
