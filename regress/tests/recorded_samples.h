// What regress/tools/replay-corpus kept of A/A runs of `assay gate time --all` on real cards.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "regress/cell.h"
#include "regress/tests/drawn_processes.h"

namespace assay_test {

inline const std::filesystem::path samples_file =
    std::filesystem::path(ASSAY_REGRESS_DATA) / "h200-gate-samples.json";

// The ratios of one cell on one card, in every process.
struct Recorded {
  assay::Cell cell;
  double time_us = 0;
  std::vector<assay::Replicate> processes;
};

inline std::optional<double> log_of(const nlohmann::json& millionths) {
  if (millionths.is_null()) return std::nullopt;
  return millionths.get<double>() / 1e6;
}

// By card.
inline std::map<std::string, std::vector<Recorded>> read_samples(bool of_the_host) {
  std::ifstream in(samples_file);
  if (!in)
    throw assay::BadInput("is missing, and without recorded runs nothing is known of the rule");
  const auto json = nlohmann::json::parse(in);
  if (json.at("schema") != 2) throw assay::BadInput("schema is not 2, the one known here");
  std::map<std::string, std::vector<Recorded>> cards;
  for (const auto& from : json.at("cells")) {
    const assay::Cell cell = assay::parse_cell(from.at("name").get<std::string>());
    if (cell.host != of_the_host) continue;
    for (const auto& [card, processes] : from.at("processes").items()) {
      Recorded recorded{.cell = cell, .time_us = from.at("time_us")};
      for (const auto& logs : processes)
        recorded.processes.push_back(
            process(*log_of(logs.at(0)), *log_of(logs.at(1)), log_of(logs.at(2))));
      if (recorded.processes.size() < 6)
        throw assay::BadInput("a cell has fewer than six processes");
      cards[card].push_back(std::move(recorded));
    }
  }
  if (cards.empty()) throw assay::BadInput("cells is empty");
  return cards;
}

}  // namespace assay_test
