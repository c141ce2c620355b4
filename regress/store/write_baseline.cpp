#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/errors.h"
#include "base/whole_file.h"
#include "regress/store/baseline.h"
#include "regress/store/baseline_folder.h"
#include "regress/store/baseline_json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw BadInput(
      fmt::format("{}: cannot be written, and the baseline is as it was: {}", path.string(), why));
}
[[noreturn]] void fail(const fs::path& path, int error) { fail(path, std::strerror(error)); }

// Whoever writes below a folder, or removes what an interrupted write left there, holds it.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX) != 0) {
      if (descriptor_ < 0 || errno != EINTR) fail(folder, errno);
    }
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

std::string prefix_of_new(const std::string& gpu) { return "." + gpu + ".new-"; }

// A new folder beside the one whose files it is to replace. Its destructor removes whatever is in
// it then.
class TemporaryFolder {
 public:
  TemporaryFolder(const fs::path& folder, const std::string& gpu) {
    std::string path = (folder / (prefix_of_new(gpu) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) fail(folder, errno);
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void remove_what_interrupted_writes_left(const fs::path& folder, const std::string& gpu) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix_of_new(gpu))) fs::remove_all(entry.path(), ignored);
  }
}

constexpr auto kinds = {&Baseline::accepted, &Baseline::anchor, &Baseline::removed};

void check_names(const Baseline& baseline) {
  check_name(baseline.gpu, "GPU");
  for (const auto kind : kinds) {
    for (const auto& [variant, accepted] : baseline.*kind) {
      check_name(variant, "variant");
      if (variant == "device")
        throw BadInput("a variant with a baseline cannot be called 'device'");
    }
  }
}

// What is stored now, with what `next` changed of `seen`.
Baseline changed(const Baseline& now, const Baseline& seen, const Baseline& next) {
  const auto entry = [](const auto& variants, const std::string& name) {
    const auto found = variants.find(name);
    return found == variants.end() ? std::nullopt : std::optional(found->second);
  };
  if (now.gpu.empty()) return next;
  Baseline result = now;
  for (const auto kind : kinds) {
    std::set<std::string> names;
    for (const Baseline* one : {&seen, &next}) {
      for (const auto& [name, accepted] : one->*kind) names.insert(name);
    }
    for (const std::string& name : names) {
      const auto before = entry(seen.*kind, name), after = entry(next.*kind, name);
      if (before == after) continue;
      if (const auto there = entry(now.*kind, name); there != before && there != after) {
        throw BadInput(
            fmt::format("{} was accepted by somebody else meanwhile, and what they "
                        "stored is kept: compare with that, and accept again",
                        name));
      }
      (result.*kind).erase(name);
      if (after) (result.*kind)[name] = *after;
    }
  }
  result.cubins.insert(next.cubins.begin(), next.cubins.end());
  if (next.device != seen.device || next.canaries != seen.canaries) {
    result.device = next.device;
    result.canaries = next.canaries;
  }
  return result;
}

std::set<std::string> cubins_asked_for(const Baseline& baseline) {
  std::set<std::string> hashes;
  for (const auto kind : kinds) {
    for (const auto& [variant, accepted] : baseline.*kind) {
      for (const CellRecord& cell : accepted.cells) hashes.insert(cell.cubin);
    }
  }
  return hashes;
}

// The text of every file, in an order in which they can be stored: what a file mentions is there
// before it. Cubins stay when nobody asks for them any more: a branch may.
std::vector<std::pair<fs::path, std::string>> files_of(const Baseline& baseline,
                                                       const Baseline& now) {
  std::vector<std::pair<fs::path, std::string>> files;
  files.emplace_back("device.json", device_text(baseline));
  const std::set<std::string> hashes = cubins_asked_for(baseline);
  for (const auto& [hash, bytes] : baseline.cubins) {
    if (hashes.contains(hash) || now.cubins.contains(hash))
      files.emplace_back(place_of_cubin(hash), bytes);
  }
  for (const auto& [variant, removed] : baseline.removed)
    files.emplace_back("removed/" + variant + ".json", variant_text(variant, removed));
  for (const auto& [variant, anchor] : baseline.anchor)
    files.emplace_back("anchor/" + variant + ".json", variant_text(variant, anchor));
  for (const auto& [variant, accepted] : baseline.accepted)
    files.emplace_back(variant + ".json", variant_text(variant, accepted));
  return files;
}

void sync_folder(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = descriptor < 0 || (::fsync(descriptor) != 0 && errno != EINVAL) ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0) fail(path, error);
}

void make_folders(const fs::path& place) {
  for (const char* name : {"", "anchor", "cubins", "removed"}) fs::create_directories(place / name);
}
void sync_folders(const fs::path& place) {
  for (const char* name : {"removed", "anchor", "cubins", ""}) sync_folder(place / name);
}

// One file after the other, each whole: a reader, and whoever comes after a crash, finds each
// variant as it was or as it is now.
void put_in_place(const fs::path& fresh, const fs::path& place, const Baseline& now,
                  const Baseline& next) {
  if (now.gpu.empty()) {
    fs::rename(fresh, place);
    return;
  }
  const auto before = files_of(now, now), after = files_of(next, now);
  const std::map<fs::path, std::string> there(before.begin(), before.end());
  for (const auto& [name, text] : after) {
    if (fs::is_directory(place / name)) fail(place / name, EISDIR);
  }
  make_folders(place);  // git keeps no empty ones
  std::set<fs::path> kept;
  for (const auto& [name, text] : after) {
    kept.insert(name);
    const auto old = there.find(name);
    if (old == there.end() || old->second != text) fs::rename(fresh / name, place / name);
  }
  for (const auto& [name, text] : there) {
    if (!kept.contains(name)) fs::remove(place / name);
  }
  sync_folders(place);
}

}  // namespace

void write_baseline(const fs::path& folder, const Baseline& next, const Baseline& seen) {
  check_names(next);
  const fs::path place = folder / next.gpu;
  try {
    fs::create_directories(folder);
    const FolderLock lock(folder);
    remove_what_interrupted_writes_left(folder, next.gpu);
    const Baseline now =
        fs::exists(place) ? read_folder(place, next.gpu, place.string()) : Baseline();
    const Baseline result = changed(now, seen, next);
    const TemporaryFolder temporary(folder, next.gpu);
    const fs::path fresh = temporary.path() / next.gpu;
    make_folders(fresh);
    try {
      for (const auto& [name, text] : files_of(result, now)) write_whole(fresh / name, text);
    } catch (const BadInput& error) {
      fail(place, error.what());
    }
    sync_folders(fresh);
    read_folder(fresh, next.gpu, place.string());  // refuses what could not be read back
    put_in_place(fresh, place, now, result);
  } catch (const fs::filesystem_error& e) {
    fail(e.path1().empty() ? place : e.path1(), e.code().value());
  }
}

}  // namespace assay
