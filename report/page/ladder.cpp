#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "report/page/draw.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {

using namespace draw;

namespace {

constexpr const char* their_card = "RTX 4090";
constexpr const char* about_theirs =
    "An article measured some of these steps on an RTX 4090 with CUDA 12.6, as the average of 10 "
    "launches after one. Another card on another day: what compares is the shape of the ladder. "
    "Articles do not agree on which size is m, which n and which k.";

// A rung of the article's ladder, and the variant that is the same step here.
struct TheirStep {
  const char* variant;
  double us, percent;  // of cuBLAS
};
struct TheirLadder {
  const char* name;
  std::array<std::int64_t, 3> m_n_k;  // other articles give the sizes in other orders
  std::array<TheirStep, 6> steps;
};
constexpr std::array their_ladders = {TheirLadder{"1024x512x1024",
                                                  {1024, 512, 1024},
                                                  {{{"naive", 1744, 2.3},
                                                    {"coalesced", 216, 18.8},
                                                    {"tiled_32", 174, 23.2},
                                                    {"blocktile_1d_row", 98, 41.5},
                                                    {"blocktile_2d_4x4", 58, 69.3},
                                                    {"cublas", 41, 100}}}},
                                      TheirLadder{"1001x513x777",
                                                  {1001, 513, 777},
                                                  {{{"naive", 406, 12.2},
                                                    {"coalesced", 191, 25.9},
                                                    {"tiled_32", 160, 30.8},
                                                    {"blocktile_1d_row", 97, 50.9},
                                                    {"blocktile_2d_4x4", 58, 85.6},
                                                    {"cublas", 49, 100}}}}};

// A bar for what was measured here, and one for what the article says.
struct Rung {
  std::string name;
  double ours = std::nan(""), theirs = std::nan("");
};
struct BarPlot {
  std::string title, axis, alternative, ours;
  bool logarithmic = false;
  std::vector<Rung> rungs;
};

constexpr double names_end = 150, bars_end = 300, rung_height = 22, bar_height = 9, top = 34;

// As much of a name as there is room for.
std::string cut(const std::string& name) {
  constexpr std::size_t longest = 24;
  return name.size() <= longest ? name : name.substr(0, longest - 2) + "..";
}

std::string number(double value) { return fmt::format("{:.{}f}", value, value < 99.95 ? 1 : 0); }

Markup bar(double value, const Scale& scale, double at, double y, const char* style) {
  if (!(value > 0)) return {};
  return box(scale.from, y, at - scale.from, bar_height, style) +
         label(at + 3, y + bar_height - 1, number(value), "tick");
}

Markup svg_of(const BarPlot& plot) {
  double least = 1e300, most = 0;
  for (const Rung& rung : plot.rungs) {
    for (double value : {rung.ours, rung.theirs}) {
      if (!(value > 0)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  // Bars on a logarithmic axis begin at a power of ten.
  const double from = plot.logarithmic ? std::pow(10, std::floor(std::log10(least))) : 0;
  const auto place = [&](double value) { return plot.logarithmic ? std::log10(value) : value; };
  const Scale scale{place(plot.logarithmic ? from : 0), place(most), names_end, bars_end};
  const double bottom = top + rung_height * static_cast<double>(plot.rungs.size());
  Markup all = box(names_end, 4, 8, 8, "ours") + label(names_end + 12, 12, plot.ours, "note") +
               box(names_end, 17, 8, 8, "theirs") +
               label(names_end + 12, 25, fmt::format("the article, {}", their_card), "note");
  for (double at : plot.logarithmic ? decades(from, most) : ticks(0, most)) {
    all += line(scale(place(at)), top - 4, scale(place(at)), bottom, "grid");
    all += label(scale(place(at)), bottom + 10, fmt::format("{:g}", at), "tick", "middle");
  }
  double y = top;
  for (const Rung& rung : plot.rungs) {
    all += label(names_end - 4, y + 13, cut(rung.name), "name", "end");
    const bool alone = !(rung.theirs > 0);
    all += bar(rung.ours, scale, scale(place(rung.ours)), y + (alone ? bar_height / 2 : 0), "ours");
    all += bar(rung.theirs, scale, scale(place(rung.theirs)), y + bar_height, "theirs");
    y += rung_height;
  }
  all += label((names_end + bars_end) / 2, bottom + 24, plot.axis, "axis", "middle");
  return figure(plot.title, plot.alternative, bottom + 30, all);
}

struct Setting {
  std::string card, problem;
  bool operator==(const Setting&) const = default;
};

// Where some variant was timed on a problem of these sizes, in this order or else in another.
std::vector<Setting> settings_of(const Report& report, const TheirLadder& theirs) {
  std::vector<Setting> exact, turned;
  for (const VariantReport& variant : report.variants) {
    for (const Timing& one : variant.timings) {
      std::array sizes = {size_in(one.problem, "m"), size_in(one.problem, "n"),
                          size_in(one.problem, "k")};
      auto their_sizes = theirs.m_n_k;
      const bool is_exact = sizes == their_sizes;
      std::ranges::sort(sizes);
      std::ranges::sort(their_sizes);
      if (one.status == "timed" && sizes == their_sizes)
        add_once(is_exact ? exact : turned, Setting{one.card, one.problem});
    }
  }
  std::erase_if(turned, [&](const Setting& setting) {
    return std::ranges::count(exact, setting.card, &Setting::card) > 0;
  });
  exact.insert(exact.end(), turned.begin(), turned.end());
  return exact;
}

const Timing* timed(const VariantReport& variant, const Setting& setting) {
  for (const Timing& one : variant.timings)
    if (one.card == setting.card && one.problem == setting.problem && one.status == "timed")
      return &one;
  return nullptr;
}

Markup plots_at(const Report& report, const TheirLadder& theirs, const Setting& setting) {
  const std::string here = setting.card.empty() ? "here" : setting.card;
  BarPlot percent{.title = "Percent of cuBLAS at " + setting.problem,
                  .axis = "% of cuBLAS's speed: more is faster",
                  .ours = here},
      time{.title = "Time at " + setting.problem,
           .axis = "us, logarithmic: less is faster",
           .ours = here,
           .logarithmic = true};
  std::vector<const VariantReport*> variants;
  for (const VariantReport& variant : report.variants) variants.push_back(&variant);
  std::ranges::stable_partition(variants,
                                [](const auto* one) { return one->about.name != "cublas"; });
  for (const VariantReport* variant : variants) {
    const Timing* one = timed(*variant, setting);
    if (one == nullptr) continue;
    const std::string& name = variant->about.name;
    const auto step = std::ranges::find(theirs.steps, name, &TheirStep::variant);
    const bool known = step != theirs.steps.end();
    const std::string shown = variant->name_in_its_class();
    percent.rungs.push_back(
        {shown, one->percent_of_cublas.value, known ? step->percent : std::nan("")});
    time.rungs.push_back({shown, one->time_us.value, known ? step->us : std::nan("")});
  }
  for (BarPlot* plot : {&percent, &time}) {
    std::vector<std::string> words;
    for (const Rung& rung : plot->rungs)
      words.push_back(
          fmt::format("{} {}{}", rung.name, digits(rung.ours),
                      rung.theirs > 0 ? fmt::format(", the article {}", digits(rung.theirs)) : ""));
    plot->alternative = joined(words, "; ");
  }
  return svg_of(percent) + svg_of(time);
}

}  // namespace

Markup ladder_section(const Report& report) {
  Markup all;
  for (const TheirLadder& theirs : their_ladders) {
    const std::vector<Setting> settings = settings_of(report, theirs);
    if (settings.empty()) continue;
    Markup plots;
    for (const Setting& setting : settings) plots += plots_at(report, theirs, setting);
    all += tag("h3", theirs.name) + tag("div", {{"class", "plots"}}, plots);
  }
  return all.empty()
             ? all
             : tag("section", {{"id", "ladder"}},
                   tag("h2", "The ladder") + tag("p", {{"class", "legend"}}, about_theirs) + all);
}

}  // namespace assay::report
