#include "report/page/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/draw.h"
#include "report/words.h"

namespace assay::report {

using namespace draw;

namespace {

Scale scale_of(const DotPlot& plot) {
  Scale scale{.low = plot.reference, .high = plot.reference};
  for (const DotPlot::Row& row : plot.rows) {
    for (double value : {row.at.value, row.at.low, row.at.high}) {
      if (!std::isfinite(value)) continue;
      scale.low = std::min(scale.low, value);
      scale.high = std::max(scale.high, value);
    }
  }
  const double room = std::max(0.04 * (scale.high - scale.low), 1e-3 * (1 + std::abs(scale.high)));
  scale.low -= room;
  scale.high += room;
  return scale;
}

// In lines that leave room for the note beside them.
std::vector<std::string> lines_of(std::string text) {
  constexpr std::size_t longest = 46;
  std::vector<std::string> lines;
  while (text.size() > longest) {
    const std::size_t space = text.rfind(' ', longest);
    const std::size_t end = space == text.npos || space == 0 ? longest : space;
    lines.push_back(text.substr(0, end));
    text.erase(0, end + (end == space));
  }
  lines.push_back(text);
  return lines;
}

constexpr double line_height = 12, mark_height = 16;

double height_of(const DotPlot::Row& row) {
  return mark_height + line_height * static_cast<double>(lines_of(row.label).size());
}

Markup row_of(const DotPlot::Row& row, const Scale& scale, double y) {
  Markup all = label(right, y + 9, row.note, "note", "end");
  for (const std::string& text : lines_of(row.label)) {
    all += label(left, y + 9, text, "name");
    y += line_height;
  }
  if (!std::isfinite(row.at.value)) return all;
  const double middle = y + 6;
  if (std::isfinite(row.at.low) && std::isfinite(row.at.high))
    all += line(scale(row.at.low), middle, scale(row.at.high), middle, row.style.c_str());
  return all + tag("circle", {{"cx", position(scale(row.at.value))},
                              {"cy", position(middle)},
                              {"r", "3.5"},
                              {"class", row.style}});
}

}  // namespace

Markup svg_of(const DotPlot& plot) {
  const Scale scale = scale_of(plot);
  double bottom = 18;
  for (const DotPlot::Row& row : plot.rows) bottom += height_of(row);
  Markup all;
  for (double at : ticks(scale.low, scale.high)) {
    all += line(scale(at), 14, scale(at), bottom, "grid");
    all += label(std::clamp(scale(at), left + 8, right - 8), bottom + 12, fmt::format("{:.4g}", at),
                 "tick", "middle");
  }
  const double reference = scale(plot.reference);
  all += line(reference, 14, reference, bottom, "reference");
  all += label(std::clamp(reference, left + 30, right - 30), 10, plot.reference_name, "tick",
               "middle");
  double y = 16;
  for (const DotPlot::Row& row : plot.rows) {
    all += row_of(row, scale, y);
    y += height_of(row);
  }
  all += label((left + right) / 2, bottom + 26, plot.axis, "axis", "middle");
  return figure(plot.title, plot.alternative, bottom + 32, all);
}

Markup svg_of(const Spread& spread, const std::string& title) {
  constexpr double top = 20, bottom = 158;
  Scale x{.low = 0, .high = 1, .from = left + 30},
      y{.low = 0, .high = 1, .from = bottom, .to = top};
  double lowest = 0;
  for (const Spread::Point& at : spread.points) {
    x.high = std::max(x.high, std::log2(at.k));
    for (double value : {at.worst, at.allowed, at.median}) {
      if (!(value > 0) || !std::isfinite(value)) continue;
      y.high = std::max(y.high, std::log10(value));
      lowest = std::min(lowest, std::log10(value));
    }
  }
  y.low = std::floor(std::max(lowest, -2.0));
  y.high = std::ceil(y.high);
  Markup all;
  for (double power = y.low; power <= y.high; ++power) {
    all += line(x.from, y(power), right, y(power), "grid");
    all += label(x.from - 4, y(power) + 3, fmt::format("{:g}", std::pow(10, power)), "tick", "end");
  }
  for (double power = 0; power <= x.high; power += 4)
    all += label(x(power), bottom + 12, fmt::format("{:.0f}", std::exp2(power)), "tick",
                 power + 4 > x.high ? "end" : "middle");
  const auto curve = [&](auto value, const char* style, const char* name) {
    std::string points;
    double last = bottom;
    for (const Spread::Point& at : spread.points) {
      if (!(value(at) > 0) || !(at.k > 0)) continue;
      last = y(std::log10(value(at)));
      points += fmt::format("{},{} ", position(x(std::log2(at.k))), position(last));
    }
    all += draw::curve(points, style);
    all += label(right, last - 4, name, "note", "end");
  };
  curve([](const auto& at) { return at.allowed; }, "bound", "allowed");
  curve([](const auto& at) { return at.worst; }, "worst", "worst");
  curve([](const auto& at) { return at.median; }, "median", "median");
  all += label((x.from + right) / 2, bottom + 26, "k", "axis", "middle");
  all += label(0, 8, "gulps", "axis");
  std::vector<std::string> words;
  for (const Spread::Point& at : spread.points)
    words.push_back(fmt::format("k={:.0f}: worst {} of {} allowed", at.k, digits(at.worst),
                                digits(at.allowed)));
  return figure(title, some_of(words, 20), bottom + 32, all);
}

Markup svg_of(const Mask& mask) {
  const std::size_t columns = mask.rows.front().size();
  const double size = std::min(14.0, (right - left) / static_cast<double>(columns));
  const double high = size * static_cast<double>(mask.rows.size());
  const double wide = size * static_cast<double>(columns);
  Markup all;
  std::string text;
  for (std::size_t i = 0; i < mask.rows.size(); ++i) {
    text += mask.rows[i] + "\n";
    for (std::size_t j = 0; j < mask.rows[i].size(); ++j) {
      all += box(left + size * static_cast<double>(j), 2 + size * static_cast<double>(i), size,
                 size, mask.rows[i][j] == '#' ? "bad" : "fine");
    }
  }
  for (double x : mask.borders_across())
    all += line(left + size * x, 2, left + size * x, 2 + high, "tile");
  for (double y : mask.borders_down())
    all += line(left, 2 + size * y, left + wide, 2 + size * y, "tile");
  const std::string of_size =
      mask.m > 0 ? fmt::format(": {}, {}", counted(mask.m, "row"), counted(mask.n, "column")) : "";
  return figure("Wrong elements of C" + of_size,
                fmt::format("{} of {} fields hold wrong elements:\n{}", mask.wrong(),
                            mask.rows.size() * columns, text),
                4 + high, all, "plot mask");
}

}  // namespace assay::report
