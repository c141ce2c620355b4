#include "regress/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include "base/errors.h"
#include "base/result_files.h"
#include "base/strict_json.h"

namespace assay {
namespace {

constexpr double least_change = 0.01;

struct Result {
  std::string gpu, verdict;
  HistoryRun run;
  std::map<Cell, HistoryPoint> points;
};

Field needed(const Field& field, const char* name) {
  if (!field.has(name)) field.refuse(fmt::format("the field '{}' is missing", name));
  return field[name];
}

std::string text_in(const Field& field, const char* name) { return needed(field, name).text(); }

HistoryPoint point_of(const Field& line) {
  const auto number = [&](const char* name) { return needed(line, name).not_negative(); };
  HistoryPoint point = {.status = text_in(line, "status"),
                        .time_us = number("head_us"),
                        .to_anchor = number("anchor_ratio"),
                        .processes = static_cast<int>(number("processes")),
                        .anchor_commit = text_in(line, "anchor_commit"),
                        .cause = text_in(line, "cause")};
  if (needed(line, "unchanged").flag() && point.time_us == 0) point.time_us = number("accepted_us");
  if (needed(line, "unchanged").flag() && point.to_anchor == 0)
    point.to_anchor = number("accepted_to_anchor");
  return point;
}

// Throws BadInput for anything that `assay gate time` of this version did not write.
Result read_result(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw BadInput(fmt::format("{}: cannot be read", file));
  const Json json = parse_json(text, file);
  const Field field(json, file + ":");
  if (!field.has("command") || text_in(field, "command") != "gate time")
    field.refuse("is no result of `assay gate time --json`");
  const std::int64_t schema = needed(field, "schema").whole(0, 1'000'000);
  if (schema < 1 || schema > 2 || !field.has("origin"))
    field.refuse("was written by another version of assay, whose results this one cannot read");
  const Field origin = needed(field, "origin");
  Result result = {.verdict = text_in(field, "verdict"),
                   .run = {.file = file,
                           .commit = text_in(origin, "commit"),
                           .parent = text_in(origin, "parent"),
                           .commit_date = text_in(origin, "commit_date"),
                           .date = text_in(origin, "date"),
                           .compiler = text_in(origin, "compiler")}};
  if (result.run.commit.empty())
    field.refuse("has no commit: run the gate in a clone of the repository");
  const Field device = needed(field, "device");
  if (device.has("key")) result.gpu = text_in(device, "key");
  if (device.has("driver")) result.run.driver = text_in(device, "driver");
  for (const Field& line : needed(field, "results").items()) {
    Cell cell = parse_cell(text_in(line, "variant") + " " + text_in(line, "problem"));
    cell.host = line.has("host") && line["host"].flag();  // which results of before did not time
    result.points[cell] = point_of(line);
  }
  return result;
}

}  // namespace

History read_history(const std::vector<std::string>& files_and_folders) {
  History history;
  std::vector<Result> results;
  std::vector<std::string> files = result_files(files_and_folders);
  std::ranges::sort(files);
  for (const std::string& file : files) {
    Result result = read_result(file);
    if (result.points.empty()) {
      history.left_out.push_back(fmt::format("{}: it measured nothing: {}", file, result.verdict));
      continue;
    }
    if (!results.empty() && results.front().gpu != result.gpu) {
      throw BadInput(fmt::format("{} is of {}, and {} is of {}: give the results of one card",
                                 results.front().run.file, results.front().gpu, file, result.gpu));
    }
    results.push_back(std::move(result));
  }
  std::ranges::stable_sort(results, {}, [](const Result& result) {
    return std::pair(result.run.commit_date, result.run.date);
  });
  for (const Result& result : results) {
    history.gpu = result.gpu;
    history.runs.push_back(result.run);
    for (const auto& [cell, point] : result.points) {
      auto& points = history.cells[cell];
      points.resize(history.runs.size());
      points.back() = point;
    }
  }
  for (auto& [cell, points] : history.cells) points.resize(history.runs.size());
  return history;
}

std::vector<HistoryChange> changes_in(const History& history) {
  std::vector<HistoryChange> changes;
  for (const auto& [cell, points] : history.cells) {
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!points[i] || !(points[i]->to_anchor > 0)) continue;
      const std::optional<std::size_t> last = std::exchange(before, i);
      if (!last || points[*last]->anchor_commit != points[i]->anchor_commit) continue;
      const double ratio = points[i]->to_anchor / points[*last]->to_anchor;
      if (!(std::abs(ratio - 1) >= least_change)) continue;
      changes.push_back({.cell = cell,
                         .before = *last,
                         .run = i,
                         .ratio = ratio,
                         .cause = points[i]->cause,
                         .is_of_one_commit = history.runs[i].parent == history.runs[*last].commit});
    }
  }
  std::ranges::stable_sort(changes, {}, &HistoryChange::run);
  return changes;
}

}  // namespace assay
