#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "base/errors.h"
#include "regress/store/baseline.h"
#include "regress/store/baseline_folder.h"
#include "regress/store/baseline_json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw BadInput(fmt::format("{}: cannot be written, and the baseline is as it was: {}",
                             path.string(), std::strerror(error)));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(path_, errno);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void onto_the_disk() const {
    if (::fsync(number_) != 0 && errno != EINVAL) fail(path_, errno);
  }

 private:
  fs::path path_;
  int number_;
};

void write_file(const fs::path& path, std::string_view bytes) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  file.write(bytes);
  file.onto_the_disk();
}

void sync_folder(const fs::path& path) {
  Descriptor(path, O_RDONLY | O_DIRECTORY).onto_the_disk();
}

std::string prefix_of_new(const std::string& gpu) {
  return "." + gpu + ".new-";
}

// A folder beside the one that it is to replace. Whatever is in it in the end is removed.
class Beside {
 public:
  Beside(const fs::path& folder, const std::string& gpu) {
    std::string path = (folder / (prefix_of_new(gpu) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) fail(folder, errno);
    path_ = path;
  }
  ~Beside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What writes that were interrupted have left.
void remove_leftovers(const fs::path& folder, const std::string& gpu) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix_of_new(gpu))) fs::remove_all(entry.path(), ignored);
  }
}

void write_variants(const fs::path& folder,
                    const std::map<std::string, VariantBaseline>& variants) {
  for (const auto& [variant, accepted] : variants) {
    check_name(variant, "variant");
    if (variant == "device") throw BadInput("a variant with a baseline cannot be called 'device'");
    write_file(folder / (variant + ".json"), variant_text(variant, accepted));
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

void fill(const fs::path& folder, const Baseline& baseline) {
  for (const char* name : {"", "anchor", "cubins"}) fs::create_directory(folder / name);
  write_file(folder / "device.json", device_text(baseline));
  write_variants(folder, baseline.accepted);
  write_variants(folder / "anchor", baseline.anchor);
  const std::set<std::string> hashes = cubins_asked_for(baseline);
  for (const auto& [hash, bytes] : baseline.cubins) {
    if (hashes.count(hash) != 0) write_file(folder / place_of_cubin(hash), bytes);
  }
  for (const char* name : {"anchor", "cubins", ""}) sync_folder(folder / name);
}

// In one step: whoever looks finds the old folder or the new one.
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
  check_name(baseline.gpu, "GPU");
  const fs::path place = folder / baseline.gpu;
  try {
    fs::create_directories(folder);
    remove_leftovers(folder, baseline.gpu);
    const Beside beside(folder, baseline.gpu);
    const fs::path fresh = beside.path() / baseline.gpu;
    fill(fresh, baseline);
    read_folder(fresh, baseline.gpu, place.string());  // what could not be read is not written
    put_in_place(fresh, place);
  } catch (const fs::filesystem_error& e) {
    fail(e.path1().empty() ? place : e.path1(), e.code().value());
  }
}

}  // namespace assay
