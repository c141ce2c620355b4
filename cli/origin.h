// Where a result comes from: the sources, the compilers that built this program, and the machine.
#pragma once

#include <map>
#include <string>

namespace assay {

struct Origin {
  std::string kernels;         // git's tree of them
  std::string commit, parent;  // "-dirty" follows a commit whose files differ; a root has no parent
  std::string commit_date, date;         // of the commit, and of this moment
  std::string harness, compiler, flags;  // the compiler and flags of kernels for a GPU
  std::string host_compiler;
};

// The commit that is checked out at `source`, with "-dirty" if the files differ from it; baselines/
// does not count. Throws BadInput if git knows no commit, and for a difference unless `dirty_too`:
// nobody could rebuild such a baseline.
std::string commit_of(const std::string& source, bool dirty_too);

// Of this program and the sources in a folder. Leaves empty what git does not know.
Origin origin_of(const std::string& folder);
Origin origin_here();  // of this project's own

// Facts by name: the processor and system of this computer; its GPUs, driver and libraries, without
// any where this build can use none.
std::map<std::string, std::string> machine_here();
std::map<std::string, std::string> device_here();

}  // namespace assay
