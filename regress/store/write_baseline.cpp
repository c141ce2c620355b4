#include "regress/store/write_baseline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "base/errors.h"
#include "base/whole_file.h"
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

std::string prefix_of_new(const std::string& gpu) { return "." + gpu + ".new-"; }

// A new folder beside the one that it is to replace. Its destructor removes whatever is in it then.
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

void check_names(const Baseline& baseline) {
  check_name(baseline.gpu, "GPU");
  for (const auto* variants : {&baseline.accepted, &baseline.anchor}) {
    for (const auto& [variant, accepted] : *variants) {
      check_name(variant, "variant");
      if (variant == "device")
        throw BadInput("a variant with a baseline cannot be called 'device'");
    }
  }
}

std::set<std::string> cubins_asked_for(const Baseline& baseline) {
  std::set<std::string> hashes;
  for (const auto* variants : {&baseline.accepted, &baseline.anchor}) {
    for (const auto& [variant, accepted] : *variants) {
      for (const CellRecord& cell : accepted.cells) hashes.insert(cell.cubin);
    }
  }
  return hashes;
}

void sync_folder(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = descriptor < 0 || (::fsync(descriptor) != 0 && errno != EINVAL) ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0) fail(path, error);
}

void write_files(const fs::path& folder, const Baseline& baseline) {
  for (const char* name : {"", "anchor", "cubins"}) fs::create_directory(folder / name);
  write_whole(folder / "device.json", device_text(baseline));
  for (const auto& [variant, accepted] : baseline.accepted)
    write_whole(folder / (variant + ".json"), variant_text(variant, accepted));
  for (const auto& [variant, accepted] : baseline.anchor)
    write_whole(folder / "anchor" / (variant + ".json"), variant_text(variant, accepted));
  const std::set<std::string> hashes = cubins_asked_for(baseline);
  for (const auto& [hash, bytes] : baseline.cubins) {
    if (hashes.contains(hash)) write_whole(folder / place_of_cubin(hash), bytes);
  }
}

// In one step: a reader finds the old folder or the new one.
void put_in_place(const fs::path& fresh, const fs::path& place) {
  const fs::file_type there = fs::symlink_status(place).type();
  if (there != fs::file_type::not_found && there != fs::file_type::directory) fail(place, ENOTDIR);
  if (there == fs::file_type::not_found) {
    if (::rename(fresh.c_str(), place.c_str()) != 0) fail(place, errno);
  } else if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) fail(place, errno);
    throw BadInput(
        fmt::format("{}: this file system cannot exchange two folders in one step: write "
                    "to a copy of the folder on a local disk",
                    place.string()));
  }
}

}  // namespace

void write_baseline(const fs::path& folder, const Baseline& baseline) {
  check_names(baseline);
  const fs::path place = folder / baseline.gpu;
  try {
    fs::create_directories(folder);
    remove_what_interrupted_writes_left(folder, baseline.gpu);
    const TemporaryFolder temporary(folder, baseline.gpu);
    const fs::path fresh = temporary.path() / baseline.gpu;
    try {
      write_files(fresh, baseline);
    } catch (const BadInput& error) {
      fail(place, error.what());
    }
    for (const char* name : {"anchor", "cubins", ""}) sync_folder(fresh / name);
    read_folder(fresh, baseline.gpu, place.string());  // refuses what could not be read back
    put_in_place(fresh, place);
  } catch (const fs::filesystem_error& e) {
    fail(e.path1().empty() ? place : e.path1(), e.code().value());
  }
}

}  // namespace assay
