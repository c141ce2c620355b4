#include "regress/store/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/errors.h"
#include "base/sha256.h"
#include "base/text.h"
#include "regress/code/cubin.h"
#include "regress/store/baseline_folder.h"
#include "regress/store/baseline_json.h"

namespace assay {

namespace fs = std::filesystem;

fs::path place_of_cubin(const std::string& hash) {
  constexpr std::size_t hash_digits_in_name = 16;
  return fs::path("cubins") / (hash.substr(0, hash_digits_in_name) + ".cubin");
}

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

namespace {

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
    for (const std::string& name : names("removed")) {
      read_one_variant("removed/" + name, baseline_.removed);
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
      if (of.empty() && (name == "anchor" || name == "cubins" || name == "removed")) continue;
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
};

}  // namespace

Baseline read_folder(const fs::path& folder, const std::string& gpu, const std::string& shown) {
  try {
    return FolderReader(folder, gpu, shown).read();
  } catch (const fs::filesystem_error& e) {
    throw BadInput(fmt::format("{}: cannot be read: {}", shown, e.code().message()));
  }
}

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

}  // namespace assay
