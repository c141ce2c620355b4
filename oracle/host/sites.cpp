#include "oracle/host/sites.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/project.h"

namespace assay {
namespace {

constexpr std::size_t longest_line = 100;

std::string text_of(const ptx::SourceLine& place) {
  std::ifstream file(place.file);
  std::string text;
  for (int i = 0; i < place.line; ++i) {
    if (!std::getline(file, text)) return "";
  }
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  text = text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
  return text.size() <= longest_line ? text : text.substr(0, longest_line - 3) + "...";
}

}  // namespace

namespace {

std::string path_from_project(const std::string& file) {
  const std::string root = project().folder + "/";
  std::string path = std::filesystem::path(file).lexically_normal().string();
  std::error_code missing;  // it may have been compiled by way of a link
  if (const auto there = std::filesystem::canonical(path, missing);
      !missing && !path.starts_with(root))
    path = there.string();
  return path.starts_with(root) ? path.substr(root.size()) : path;
}

}  // namespace

std::string shown_path(const std::string& file) {
  thread_local std::map<std::string, std::string> known;  // comparisons ask a thousand times
  const auto [found, is_new] = known.try_emplace(file);
  if (is_new) found->second = path_from_project(file);
  return found->second;
}

std::string text_of(const std::vector<ptx::Site>& sites) {
  std::string all;
  for (const ptx::Site& site : sites) {
    std::string_view does = site.does;
    for (const ptx::SourceLine& line : site.lines) {
      const std::string text = text_of(line);
      all += fmt::format("{:<8}{}:{}{}{}\n", does, shown_path(line.file), line.line,
                         text.empty() ? "" : ": ", text);
      does = "called";
    }
  }
  return all;
}

}  // namespace assay
