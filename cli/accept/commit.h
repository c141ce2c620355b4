// Which commit the sources are of.
#pragma once

#include <string>

namespace assay {

// The commit that is checked out at `source`, with "-dirty" where what is there differs from it.
// baselines/ makes no difference. Throws BadInput where git cannot tell, and for a difference that
// was not asked for: nobody could rebuild it.
std::string commit_of(const std::string& source, bool dirty_too);

}  // namespace assay
