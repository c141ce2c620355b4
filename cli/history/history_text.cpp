#include "cli/history/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"

namespace assay {
namespace {

using Points = std::vector<std::optional<HistoryPoint>>;

std::string short_commit(const std::string& commit) { return commit.substr(0, 12); }
std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.3f}", ratio) : "-"; }
std::string time_text(double us) { return us > 0 ? fmt::format("{:.2f} us", us) : "-"; }

// From the lowest to the highest bar, in steps of 1 % around the anchor's time; a dot is no data.
std::string picture(const Points& points) {
  constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const auto& point : points) {
    if (!point || !(point->to_anchor > 0)) {
      text += "·";
      continue;
    }
    const double step = std::round(3 + 100 * (point->to_anchor - 1));
    text += bars[static_cast<std::size_t>(std::clamp(step, 0.0, 7.0))];
  }
  return text;
}

// The first or last point with data; null where there is none.
const HistoryPoint* known(const auto& points) {
  for (const auto& point : points) {
    if (point && point->to_anchor > 0) return &*point;
  }
  return nullptr;
}

std::string table_of_cells(const History& history, const Screen& screen) {
  Table table;
  table.add_column("cell", Side::left);
  table.add_column("time", Side::right);
  table.add_column("over the anchor: first", Side::right);
  table.add_column("last", Side::right);
  table.add_column("course", Side::left);
  for (const auto& [cell, points] : history.cells) {
    const Points reversed(points.rbegin(), points.rend());
    const HistoryPoint *first = known(points), *last = known(reversed);
    table.add_row({{to_string(cell)},
                   {last ? time_text(last->time_us) : "-"},
                   {first ? ratio_text(first->to_anchor) : "-"},
                   {last ? ratio_text(last->to_anchor) : "-"},
                   {picture(points)}});
  }
  return table.text(screen);
}

std::string table_of_runs(const History& history, const Cell& cell, const Screen& screen) {
  Table table;
  for (const char* heading : {"commit", "of", "compiler"}) table.add_column(heading, Side::left);
  for (const char* heading : {"time", "over the anchor", "processes"})
    table.add_column(heading, Side::right);
  table.add_column("", Side::left);
  const Points& points = history.cells.at(cell);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    const HistoryPoint point = points[i].value_or(HistoryPoint{.status = "not watched"});
    table.add_row({{short_commit(run.commit)},
                   {run.commit_date.substr(0, 10)},
                   {run.compiler},
                   {time_text(point.time_us)},
                   {ratio_text(point.to_anchor)},
                   {fmt::to_string(point.processes)},
                   {point.status}});
  }
  return fmt::format("{}: {}\n\n{}", to_string(cell), picture(points), table.text(screen));
}

std::string change_text(const History& history, const HistoryChange& change) {
  const HistoryRun &run = history.runs[change.run], &before = history.runs[change.before];
  const double percent = 100 * std::abs(change.ratio - 1);
  std::string text =
      fmt::format("{}{} of {}: {}: {:.1f} % {}{}\n", change.is_of_one_commit ? "" : "up to ",
                  short_commit(run.commit), run.commit_date.substr(0, 10), to_string(change.cell),
                  percent, change.ratio > 1 ? "slower" : "faster",
                  change.cause.empty() ? "" : ": " + printable(change.cause));
  if (!change.is_of_one_commit && change.ratio > 1) {
    text += fmt::format("  which one: ci/bisect {} {} \"{}\"\n", short_commit(before.commit),
                        short_commit(run.commit), to_string(change.cell));
  }
  return text;
}

}  // namespace

std::string history_text(const History& history, const std::optional<Cell>& only,
                         const Screen& screen) {
  std::string text =
      fmt::format("assay history: {}, {} on {}\n\n",
                  plural(static_cast<std::int64_t>(history.cells.size()), "cell"),
                  plural(static_cast<std::int64_t>(history.runs.size()), "run"), history.gpu);
  text += only ? table_of_runs(history, *only, screen) : table_of_cells(history, screen);
  std::string changed;
  for (const HistoryChange& change : changes_in(history)) {
    if (!only || change.cell == *only) changed += change_text(history, change);
  }
  text += "\n" + (changed.empty() ? "nothing changed by 1 % or more\n" : changed);
  for (const std::string& file : history.left_out)
    text += fmt::format("left out: {}\n", printable(file));
  return text;
}

std::string history_svg(const History& history, const std::optional<Cell>& only) {
  constexpr int left = 420, step = 24, row = 40, half = 16, most = 10;  // percent that is drawn
  const int width = left + step * static_cast<int>(history.runs.size()) + 20;
  std::string rows;
  int y = 30;
  for (const auto& [cell, points] : history.cells) {
    if (only && cell != *only) continue;
    y += row;
    rows +=
        fmt::format("<text x=\"8\" y=\"{}\">{}</text>\n<path class=\"anchor\" d=\"M{} {}H{}\"/>\n",
                    y + 4, to_string(cell), left, y, width - 20);
    std::string line;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!points[i] || !(points[i]->to_anchor > 0)) continue;
      const double percent = std::clamp(100 * (points[i]->to_anchor - 1), -1.0 * most, 1.0 * most);
      const double x = left + step * (static_cast<double>(i) + 0.5), at = y - percent * half / most;
      line += fmt::format("{}{:.0f} {:.1f}", line.empty() ? "M" : "L", x, at);
      rows += fmt::format(
          "<circle cx=\"{:.0f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{} {}: {:.4f}"
          "</title></circle>\n",
          x, at, short_commit(history.runs[i].commit), points[i]->status, points[i]->to_anchor);
    }
    rows += fmt::format("<path d=\"{}\"/>\n", line.empty() ? "M0 0" : line);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"monospace\" font-size=\"11\">\n"
      "<style>path {{ fill: none; stroke: #1f77b4 }} .anchor {{ stroke: #ccc }}</style>\n"
      "<text x=\"8\" y=\"20\">time over the anchor&#39;s, -{} to +{} %, by run; the grey line is "
      "the "
      "anchor; higher is slower</text>\n{}</svg>\n",
      width, y + row, most, most, rows);
}

}  // namespace assay
