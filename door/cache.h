// Libraries of kernels that were compiled before, kept until a file changes that they were made
// from. Whatever is damaged or out of date in the folder is as good as absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// What compiling a file for one backend came to: a library, or the reason why it does not take it.
struct Compiled {
  std::filesystem::path library;
  std::string why_not;
};

class Cache {
 public:
  // Below the given folder, else below assay/ in $XDG_CACHE_HOME or ~/.cache. Makes nothing yet.
  explicit Cache(const std::string& folder);

  // What was kept under this key, if every file that it was made from is the same to the letter.
  std::optional<Compiled> find(const std::string& key) const;

  // Keeps it; the library is copied. Throws BadInput where the folder cannot be written.
  Compiled keep(const std::string& key, const Compiled&,
                const std::vector<std::filesystem::path>& made_from) const;

  // The files that it was made from; none where nothing is kept.
  std::vector<std::filesystem::path> made_from(const std::string& key) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void drop_old() const;
  std::filesystem::path folder_;
};

// The text of a file; nothing where it cannot be read.
std::optional<std::string> bytes_of(const std::filesystem::path&);

}  // namespace assay
