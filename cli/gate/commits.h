// What the gate compares with when it is given a commit of this repository.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// Throws BadInput that begins with `flag` for a commit that git does not know.
void check_commit(const char* flag, const std::string& ref);

// Builds the kernels of a commit with this harness, and returns the folder of their baseline.
// Throws UnfitEnvironment where they cannot be built.
std::string kernels_at(const std::string& ref);

// What a commit had accepted, in a folder that goes with this. Throws BadInput.
class StoredAt {
 public:
  explicit StoredAt(const std::string& ref);
  ~StoredAt();
  StoredAt(const StoredAt&) = delete;
  StoredAt& operator=(const StoredAt&) = delete;
  std::string folder() const { return (path_ / "baselines").string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
