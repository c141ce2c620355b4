#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/errors.h"
#include "base/result_files.h"
#include "report/report.h"

namespace assay::report {
namespace {

bool is_known(const Cell& cell) { return cell.to_anchor() > 0 && cell.status != "invalid"; }

Moment moment_of(const Source& source, std::vector<const Cell*> cells) {
  std::ranges::sort(cells, {}, &Cell::to_anchor);
  const std::size_t count = cells.size();
  const double median = (cells[(count - 1) / 2]->to_anchor() + cells[count / 2]->to_anchor()) / 2;
  return {source.commit,
          source.card,
          static_cast<std::int64_t>(count),
          median,
          cells.back()->to_anchor(),
          cells.back()->problem};
}

}  // namespace

void add_history(Report& report, const std::vector<std::string>& files_and_folders) {
  std::vector<Result> gates;
  for (const std::string& file : result_files(files_and_folders)) {
    gates.push_back(read_result(file));
    const std::string& command = gates.back().source.command;
    if (command != "gate time")
      throw BadInput(fmt::format(
          "{}: is of `assay {}`: the history is of results of `assay gate time`", file, command));
  }
  std::ranges::stable_sort(gates, {}, [](const Result& gate) {
    return std::tie(gate.source.commit_date, gate.source.date);
  });
  for (const Result& gate : gates) {
    if (!gate.source.unfit.empty()) continue;
    std::map<std::string, std::vector<const Cell*>> by_variant;
    for (const Cell& cell : gate.cells)
      if (is_known(cell)) by_variant[cell.variant].push_back(&cell);
    for (VariantReport& variant : report.variants)
      if (const auto cells = by_variant.find(variant.about.name); cells != by_variant.end())
        variant.history.push_back(moment_of(gate.source, cells->second));
  }
}

}  // namespace assay::report
