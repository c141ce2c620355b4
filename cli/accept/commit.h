// The commit that the sources were checked out from.
#pragma once

#include <string>

namespace assay {

// The commit that is checked out at `source`, with "-dirty" if the files differ from it; baselines/
// does not count. Throws BadInput if git knows no commit, and for a difference unless `dirty_too`:
// nobody could rebuild such a baseline.
std::string commit_of(const std::string& source, bool dirty_too);

}  // namespace assay
