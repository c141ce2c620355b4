#include "base/result_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/errors.h"

namespace assay {

namespace fs = std::filesystem;

std::vector<std::string> result_files(const std::vector<std::string>& files_and_folders) {
  std::vector<std::string> files;
  for (const std::string& name : files_and_folders) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> inside;
    for (const fs::directory_entry& entry : fs::directory_iterator(name, error))
      if (entry.path().extension() == ".json") inside.push_back(entry.path().string());
    if (error) throw BadInput(fmt::format("{}: cannot be read: {}", name, error.message()));
    if (inside.empty())
      throw BadInput(fmt::format("{}: holds no result: there is no file .json in it", name));
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace assay
