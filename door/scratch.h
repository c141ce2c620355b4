// A folder for this run, which goes when the process ends, however it ends.
#pragma once

#include <filesystem>

namespace assay {

class Scratch {
 public:
  // Makes it in $TMPDIR, else in /tmp. Throws BadInput if it cannot.
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int alive_ = -1;  // closes when this process ends, and then another one removes the folder
  int remover_ = -1;
};

}  // namespace assay
