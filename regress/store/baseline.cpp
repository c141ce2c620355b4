#include "regress/store/baseline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "regress/code/cubin.h"
#include "regress/store/baseline_json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hash_digits_in_name = 16;

// Where in its folder a cubin lies, by its SHA-256.
fs::path place_of_cubin(const std::string& hash) {
  return fs::path("cubins") / (hash.substr(0, hash_digits_in_name) + ".cubin");
}

// Refuses what some file system does not take as the name of a folder or file.
void check_name(const std::string& name, const char* of_what) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '+' || c == '.';
  };
  const bool good = !name.empty() && name.size() <= 100 && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), is_plain);
  if (!good) {
    throw BadInput(
        fmt::format("'{}' cannot be the name of a {} in a baseline: letters, digits and "
                    "-_+. are allowed, and no dot first",
                    name, of_what));
  }
}

std::string read_file(const fs::path& path, const std::string& shown) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw BadInput(fmt::format("{}: cannot be read", shown));
  return bytes;
}

// The same major architecture, and not a younger one.
bool runs_on(int device, int code) { return code / 10 == device / 10 && code <= device; }

class FolderReader {
 public:
  FolderReader(fs::path folder, std::string gpu, std::string shown)
      : folder_(std::move(folder)), shown_(std::move(shown)) {
    baseline_.gpu = std::move(gpu);
  }

  Baseline read() {
    if (!fs::exists(folder_ / "device.json")) {
      throw BadInput(fmt::format("{}/device.json: is missing", shown_));
    }
    read_device(text("device.json"), shown_ + "/device.json", baseline_);
    for (const std::string& name : names("cubins")) read_one_cubin("cubins/" + name);
    for (const std::string& name : names("")) {
      if (name != "device.json") read_one_variant(name, baseline_.accepted);
    }
    for (const std::string& name : names("anchor")) {
      read_one_variant("anchor/" + name, baseline_.anchor);
    }
    for (const auto& [hash, cubin] : cubins_) {
      if (used_.count(hash) == 0) {
        throw BadInput(fmt::format("{}/{}: no record asks for it: remove it", shown_,
                                   place_of_cubin(hash).string()));
      }
    }
    return std::move(baseline_);
  }

 private:
  std::string text(const std::string& name) const {
    return read_file(folder_ / name, shown_ + "/" + name);
  }

  // The files of one of the folders, sorted. Refuses anything else that lies there.
  std::vector<std::string> names(const std::string& of) const {
    std::vector<std::string> found;
    if (!fs::exists(folder_ / of)) return found;
    const std::string place = of.empty() ? shown_ : shown_ + "/" + of;
    if (!fs::is_directory(folder_ / of)) throw BadInput(fmt::format("{}: is no folder", place));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / of)) {
      const std::string name = entry.path().filename().string();
      if (of.empty() && (name == "anchor" || name == "cubins")) continue;
      const bool named_right = entry.path().extension() == (of == "cubins" ? ".cubin" : ".json");
      if (!named_right || fs::symlink_status(entry.path()).type() != fs::file_type::regular) {
        throw BadInput(fmt::format("{}/{}: is no part of a baseline: remove it", place, name));
      }
      found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void read_one_cubin(const std::string& name) {
    const std::string file = shown_ + "/" + name;
    std::string bytes = text(name);
    const std::string hash = sha256(bytes);
    if (name != place_of_cubin(hash)) {
      throw BadInput(fmt::format("{}: its content belongs to {}: it was changed or cut off", file,
                                 place_of_cubin(hash).filename().string()));
    }
    try {
      cubins_[hash] = read_cubin(bytes);
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("{}: {}", file, e.what()));
    }
    if (!runs_on(baseline_.architecture, cubins_[hash].architecture)) {
      throw BadInput(fmt::format("{}: it is for sm_{}, which does not run on this GPU's sm_{}",
                                 file, cubins_[hash].architecture, baseline_.architecture));
    }
    baseline_.cubins[hash] = std::move(bytes);
  }

  void read_one_variant(const std::string& name, std::map<std::string, VariantBaseline>& into) {
    const std::string file = shown_ + "/" + name;
    const std::string variant = fs::path(name).stem().string();
    check_name(variant, "variant");
    VariantBaseline accepted = read_variant(text(name), file, variant);
    for (std::size_t i = 0; i < accepted.cells.size(); ++i) {
      check_code(accepted.cells[i], fmt::format("{}: cells[{}]", file, i));
    }
    into[variant] = std::move(accepted);
  }

  // Refuses a cell whose stored machine code is not what its recipe asks for.
  void check_code(const CellRecord& cell, const std::string& where) {
    const auto cubin = cubins_.find(cell.cubin);
    if (!cell.cubin.empty() && cubin == cubins_.end()) {
      throw BadInput(fmt::format("{}.cubin: there is no {}/{} for '{}'", where, shown_,
                                 place_of_cubin(cell.cubin).string(), cell.cubin));
    }
    bool uses_cubin = false;
    for (std::size_t i = 0; i < cell.recipe.nodes.size(); ++i) {
      const auto* node = std::get_if<KernelNode>(&cell.recipe.nodes[i]);
      if (node == nullptr) continue;
      if (cell.cubin.empty()) {
        throw BadInput(fmt::format("{}.cubin: a recipe with kernels needs one", where));
      }
      check_kernel(cubin->second, *node, fmt::format("{}.recipe.nodes[{}]", where, i));
      uses_cubin = true;
    }
    if (!cell.cubin.empty() && !uses_cubin) {
      throw BadInput(fmt::format("{}.cubin: its recipe runs no kernel", where));
    }
    used_.insert(cell.cubin);
  }

  static void check_kernel(const Cubin& cubin, const KernelNode& node, const std::string& where) {
    const auto kernel =
        std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                     [&](const KernelCode& code) { return code.symbol == node.kernel; });
    if (kernel == cubin.kernels.end()) {
      throw BadInput(fmt::format("{}.kernel: its cubin has no '{}'", where, node.kernel));
    }
    if (kernel->code != node.code) {
      throw BadInput(fmt::format("{}.code: '{}', but the code in its cubin is '{}'", where,
                                 node.code, kernel->code));
    }
  }

  fs::path folder_;
  std::string shown_;
  Baseline baseline_;
  std::map<std::string, Cubin> cubins_;  // by SHA-256
  std::set<std::string> used_;
};

// The folder of one GPU, wherever it lies; errors call it `shown`.
Baseline read_folder(const fs::path& folder, const std::string& gpu, const std::string& shown) {
  try {
    return FolderReader(folder, gpu, shown).read();
  } catch (const fs::filesystem_error& e) {
    throw BadInput(fmt::format("{}: cannot be read: {}", shown, e.code().message()));
  }
}

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

std::vector<std::string> stored_gpus(const fs::path& folder) {
  std::vector<std::string> gpus;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && !name.starts_with('.')) gpus.push_back(name);
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

Baseline read_baseline(const fs::path& folder, const std::string& gpu) {
  check_name(gpu, "GPU");
  const std::vector<std::string> gpus = stored_gpus(folder);
  if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) {
    throw NoBaseline(fmt::format("{} has no baseline for {}; it has {}", folder.string(), gpu,
                                 gpus.empty() ? "none" : joined(gpus)));
  }
  return read_folder(folder / gpu, gpu, (folder / gpu).string());
}

const CellRecord* record_of(const std::map<std::string, VariantBaseline>& variants,
                            const Cell& cell) {
  const auto variant = variants.find(cell.variant);
  if (variant == variants.end()) return nullptr;
  const auto& records = variant->second.cells;
  const auto record = std::ranges::find(records, cell.problem, &CellRecord::problem);
  return record == records.end() ? nullptr : &*record;
}

bool anchor_is_baseline(const Baseline& baseline, const Cell& cell) {
  const CellRecord* accepted = record_of(baseline.accepted, cell);
  const CellRecord* anchor = record_of(baseline.anchor, cell);
  return accepted != nullptr && anchor != nullptr && same_launch(accepted->recipe, anchor->recipe);
}

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
