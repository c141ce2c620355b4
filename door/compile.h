// Compiles one file of kernels for one backend, with the flags with which the build compiles the
// ladder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/errors.h"
#include "door/cache.h"
#include "door/scratch.h"
#include "kernels/register.h"

namespace assay {

// A file that cannot be judged, with more to say than a line: what the compiler said, or what is to
// be added.
struct BadFile : BadInput {
  BadFile(const std::string& message, std::string text)
      : BadInput(message), details(std::move(text)) {}
  std::string details;
};

struct Source {
  std::string name;                     // as the command line has it
  std::vector<std::string> flags;       // -I and -D, for every compiler
  std::vector<std::string> nvcc_flags;  // for nvcc alone
  std::string architecture;             // of the GPU: "90a"
  int model_capability = 90;            // of the GPU that the PTX machine stands in for
};

struct LibraryKind {
  Backend backend;
  bool watched = false;   // for the executor: so that its comparisons can be watched
  bool optional = false;  // that it is not taken is a reason, no error
  bool unlinked = false;  // machine code that is read, not loaded
};

// Throws BadInput where this program does not know how to compile for it.
void refuse_without_recipe(Backend);

// One library to make of a file.
class Compilation {
 public:
  // Throws BadInput if its compiler is not here.
  Compilation(const Source&, const LibraryKind&);

  // What the cache has of it; nothing where anything has changed.
  std::optional<Compiled> find(const Cache&) const;
  // Runs the compiler in a folder of its own. Throws BadFile.
  Compiled run(const std::filesystem::path& folder) const;
  // Keeps what `run` made, unless a file has changed since `start`, or it names files by links that
  // are gone with that folder. Throws BadInput where it cannot.
  Compiled keep(const Cache&, const Compiled&, const std::filesystem::path& folder,
                std::filesystem::file_time_type start) const;
  // Every file that it was made from when it was last compiled.
  std::vector<std::filesystem::path> files(const Cache&) const;

  const LibraryKind& kind() const { return kind_; }

 private:
  using Words = std::vector<std::string>;
  std::vector<Words> commands(const std::filesystem::path& folder) const;
  bool names_links() const;
  std::filesystem::path file_;
  Source source_;
  LibraryKind kind_;
  Words compile_, link_;  // commands, but for the files
  std::string key_;
};

}  // namespace assay
