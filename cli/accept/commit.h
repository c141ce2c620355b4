// The commit of the sources.
#pragma once

#include <string>

namespace assay {

// The commit that is checked out at `source`; with `dirty_too`, "-dirty" follows it if the files
// differ from it outside of baselines/. Throws BadInput if git knows no commit, and for files that
// differ without `dirty_too`: nobody could rebuild them.
std::string commit_of(const std::string& source, bool dirty_too);

}  // namespace assay
