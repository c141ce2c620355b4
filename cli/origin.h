// Where a result comes from: the sources, and the compiler that this program's kernels were built
// by.
#pragma once

#include <string>

namespace assay {

struct Origin {
  std::string kernels;         // git's tree of them
  std::string commit, parent;  // "-dirty" follows a commit whose files differ; a root has no parent
  std::string commit_date, date;  // of the commit, and of this moment
  std::string harness, compiler, flags;
};

// The commit that is checked out at `source`, with "-dirty" if the files differ from it; baselines/
// does not count. Throws BadInput if git knows no commit, and for a difference unless `dirty_too`:
// nobody could rebuild such a baseline.
std::string commit_of(const std::string& source, bool dirty_too);

// Of this program. Leaves empty what git does not know.
Origin origin_here();

}  // namespace assay
