#include "door/cache.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/errors.h"
#include "base/sha256.h"
#include "base/whole_file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// An entry is a folder with this file and, where there is one, the library that it names:
//   library SHA-256        or        why TEXT
//   SHA-256 FILE           for each file that it was made from
constexpr const char* manifest_name = "manifest";

struct Manifest {
  std::string library, why_not;
  std::vector<std::pair<std::string, std::string>> files;  // hash and path
};

std::optional<Manifest> read_manifest(const fs::path& entry) {
  const auto text = bytes_of(entry / manifest_name);
  if (!text) return std::nullopt;
  Manifest manifest;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) return std::nullopt;
    const std::string word = line.substr(0, space), rest = line.substr(space + 1);
    if (word == "library") {
      manifest.library = rest;
    } else if (word == "why") {
      manifest.why_not = rest;
    } else {
      manifest.files.emplace_back(word, rest);
    }
  }
  if (manifest.files.empty()) return std::nullopt;
  return manifest;
}

fs::path usual_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (set("XDG_CACHE_HOME").is_absolute()) return set("XDG_CACHE_HOME") / "assay";
  return set("HOME").is_absolute() ? set("HOME") / ".cache/assay" : fs::path();
}

}  // namespace

std::optional<std::string> bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Cache::Cache(const std::string& folder)
    : folder_((folder.empty() ? usual_folder() : fs::absolute(folder)) / "kernels") {}

std::optional<Compiled> Cache::find(const std::string& key) const {
  const fs::path entry = folder_ / key;
  const auto manifest = read_manifest(entry);
  if (!manifest) return std::nullopt;
  for (const auto& [hash, path] : manifest->files) {
    const auto bytes = bytes_of(path);
    if (!bytes || sha256(*bytes) != hash) return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(entry / manifest_name, fs::file_time_type::clock::now(), ignored);
  if (!manifest->why_not.empty()) return Compiled{{}, manifest->why_not};
  const fs::path library = entry / (manifest->library + ".so");
  const auto bytes = bytes_of(library);
  if (!bytes || sha256(*bytes) != manifest->library) return std::nullopt;
  return Compiled{library, ""};
}

Compiled Cache::keep(const std::string& key, const Compiled& compiled,
                     const std::vector<fs::path>& made_from) const {
  if (!folder_.is_absolute()) throw BadInput("there is no HOME: name a folder with --cache");
  const fs::path entry = folder_ / key;
  std::error_code error;
  fs::create_directories(entry, error);
  if (error) throw BadInput(fmt::format("{}: {}", folder_.string(), error.message()));
  Compiled kept = compiled;
  std::string manifest = fmt::format("why {}\n", compiled.why_not);
  if (!compiled.library.empty()) {
    const std::string bytes = bytes_of(compiled.library).value_or("");
    const std::string hash = sha256(bytes);
    kept.library = entry / (hash + ".so");
    write_whole(kept.library, bytes);
    manifest = fmt::format("library {}\n", hash);
  }
  for (const fs::path& file : made_from) {
    const auto bytes = bytes_of(file);
    if (!bytes || file.string().find('\n') != std::string::npos)
      throw BadInput(fmt::format("{} cannot be read", file.string()));
    manifest += fmt::format("{} {}\n", sha256(*bytes), file.string());
  }
  write_whole(entry / manifest_name, manifest);
  drop_old();
  return kept;
}

std::vector<fs::path> Cache::made_from(const std::string& key) const {
  std::vector<fs::path> files;
  if (const auto manifest = read_manifest(folder_ / key)) {
    for (const auto& [hash, path] : manifest->files) files.emplace_back(path);
  }
  return files;
}

// Entries that nobody has asked for in a month, and libraries that are a day older than the one
// that their entry names: a run that began before it may still use those.
void Cache::drop_old() const {
  const auto age = [](const fs::path& file) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    return error ? std::chrono::hours(0)
                 : std::chrono::duration_cast<std::chrono::hours>(fs::file_time_type::clock::now() -
                                                                  time);
  };
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const auto manifest = read_manifest(entry.path());
    if (!manifest) continue;  // not ours, or not whole yet
    if (age(entry.path() / manifest_name) > std::chrono::hours(24 * 30)) {
      fs::remove_all(entry.path(), ignored);
      continue;
    }
    for (const auto& file : fs::directory_iterator(entry.path(), ignored)) {
      const bool is_named = file.path().filename().string() == manifest->library + ".so";
      if (file.path().extension() == ".so" && !is_named && age(file) > std::chrono::hours(24))
        fs::remove(file.path(), ignored);
    }
  }
}

}  // namespace assay
