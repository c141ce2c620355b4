#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {
namespace {

// A figure for each problem and variant on one card.
struct HeatMap {
  std::string title, legend, card;
  std::vector<std::string> problems;
  std::vector<const VariantReport*> variants;
};

// From 0 to 9, which style.css colours.
Markup heat(const std::string& text, double share, const std::string& title) {
  if (!std::isfinite(share)) return tag("td", {{"class", "faint"}, {"title", title}}, "–");
  const int step = static_cast<int>(std::clamp(share, 0.0, 0.999) * 10);
  return tag("td", {{"class", fmt::format("heat-{}", step)}, {"title", title}}, text);
}

template <class Of>
Markup map_of(const HeatMap& map, const Report& report, const Of& cell_of) {
  Markup head = tag("th", {{"scope", "col"}}, "problem");
  for (const VariantReport* variant : map.variants) {
    const std::string& name = variant->about.name;
    head += tag(
        "th", {{"scope", "col"}, {"class", "claim"}},
        tag("span", tag("a", {{"href", anchor_of(report, name)}}, variant->name_in_its_class())));
  }
  Markup rows;
  for (const std::string& problem : map.problems) {
    Markup row = tag("th", {{"scope", "row"}}, problem);
    for (const VariantReport* variant : map.variants) row += cell_of(*variant, problem, map.card);
    rows += tag("tr", row);
  }
  return tag("h3", map.title) + tag("p", {{"class", "legend"}}, map.legend) +
         tag("div",
             {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", map.title}},
             tag("table", {{"class", "matrix heat"}},
                 tag("thead", tag("tr", head)) + tag("tbody", rows)));
}

Markup of_bench(const VariantReport& variant, const std::string& problem, const std::string& card) {
  for (const Timing& timing : variant.timings) {
    if (timing.problem != problem || timing.card != card || timing.status != "timed") continue;
    const bool beside_cublas = timing.percent_of_cublas.value > 0;
    const std::string title = fmt::format("{}, {}: {} us, {} TFLOP/s", variant.about.name, problem,
                                          digits(timing.time_us.value), digits(timing.tflops));
    return beside_cublas ? heat(fmt::format("{:.0f}", timing.percent_of_cublas.value),
                                timing.percent_of_cublas.value / 100, title)
                         : heat("-", std::nan(""), title);
  }
  return heat("", std::nan(""), "not timed");
}

// What is slower stands out, and what was not timed says why.
Markup of_gate(const VariantReport& variant, const std::string& problem, const std::string& card) {
  for (const MergedCell& cell : variant.cells) {
    if (cell.problem != problem || cell.card != card) continue;
    const bool is_bad = cell.status == "slower" || cell.status == "wrong";
    const bool is_good = cell.status == "same" || cell.status == "faster";
    const std::string change = cell.ratio.value > 0 ? change_of(cell.ratio.value)
                               : cell.unchanged     ? "="
                                                    : cell.status;
    return tag("td",
               {{"class", is_bad    ? "bad"
                          : is_good ? "good"
                                    : "unsure"},
                {"title", cell.reason}},
               (cell.status == "same" || change == cell.status ? "" : cell.status + " ") + change +
                   (cell.contradiction.empty() ? "" : " !"));
  }
  return tag("td");
}

// A map for each card; `all_of` gives what is known of a variant.
template <class All, class Of>
Markup maps_of(const Report& report, const std::string& title, const std::string& legend,
               const All& all_of, const Of& cell_of) {
  std::vector<HeatMap> maps;
  for (const VariantReport& variant : report.variants) {
    for (const auto& one : all_of(variant)) {
      auto map = std::ranges::find(maps, one.card, &HeatMap::card);
      if (map == maps.end())
        map = maps.insert(
            map, {one.card.empty() ? title : title + ", " + one.card, legend, one.card, {}, {}});
      add_once(map->problems, one.problem);
      add_once(map->variants, &variant);
    }
  }
  Markup all;
  for (const HeatMap& map : maps) all += map_of(map, report, cell_of);
  return all;
}

}  // namespace

Markup speed_section(const Report& report) {
  const Markup maps =
      maps_of(
          report, "Change of time against the baseline",
          "less is faster; = is proven unchanged: the same machine code and launch",
          [](const VariantReport& variant) -> auto& { return variant.cells; }, of_gate) +
      maps_of(
          report, "Speed beside cuBLAS",
          "% of cuBLAS's speed at the same problem: more is faster; point at a field for its time",
          [](const VariantReport& variant) -> auto& { return variant.timings; }, of_bench);
  return maps.empty() ? maps : tag("section", {{"id", "speed"}}, tag("h2", "Speed") + maps);
}

}  // namespace assay::report
