#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/page/draw.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {

using namespace draw;

namespace {

constexpr const char* legend =
    "No kernel can be above the roof: to the left, the fewest bytes of A, B and C at the speed of "
    "the card's memory; to the right, its arithmetic. Both were measured on the card.";

struct Point {
  std::string variant, problem;
  double intensity = 0, tflops = 0;
  const char* style = "other";
};

// What was timed on one card.
struct Roofline {
  std::string card;
  double peak_tflops = 0, memory_gb_s = 0;
  std::vector<Point> points;

  double roof(double intensity) const {
    return std::min(peak_tflops, intensity * memory_gb_s / 1e3);
  }
};

// Operations for each byte that the problem makes a kernel move at least.
double intensity_of(const std::string& problem) {
  const auto m = static_cast<double>(size_in(problem, "m")),
             n = static_cast<double>(size_in(problem, "n")),
             k = static_cast<double>(size_in(problem, "k"));
  const bool reads_c = problem.find(" beta=") != problem.npos;
  return 2 * m * n * k / (4 * (m * k + k * n + m * n * (reads_c ? 2 : 1)));
}

std::vector<Roofline> rooflines_in(const Report& report) {
  std::vector<Roofline> all;
  for (const VariantReport& variant : report.variants) {
    for (const Timing& one : variant.timings) {
      const double intensity = intensity_of(one.problem);
      const bool of_ffma = one.arithmetic.empty() || one.arithmetic == "fp32";  // as the roof is
      const bool is_point = one.status == "timed" && one.tflops > 0 && intensity > 0 && of_ffma;
      if (!is_point || !(one.peak_tflops > 0) || !(one.memory_gb_s > 0)) continue;
      auto roofline = std::ranges::find(all, one.card, &Roofline::card);
      if (roofline == all.end()) roofline = all.insert(all.end(), {.card = one.card});
      roofline->peak_tflops = std::max(roofline->peak_tflops, one.peak_tflops);
      roofline->memory_gb_s = std::max(roofline->memory_gb_s, one.memory_gb_s);
      roofline->points.push_back({variant.about.name, one.problem, intensity, one.tflops});
    }
  }
  return all;
}

Markup mark(const Point& point, double x, double y) {
  const std::string what =
      fmt::format("{}, {}: {} TFLOP/s", point.variant, point.problem, digits(point.tflops));
  return tag("circle",
             {{"cx", position(x)},
              {"cy", position(y)},
              {"r", point.style == std::string_view("other") ? "1.8" : "3"},
              {"class", point.style}},
             tag("title", what));
}

// What each style of mark stands for, in a row.
Markup key_of(const std::string& best, bool has_others, double y) {
  double x = left;
  Markup all;
  const auto add = [&](const char* style, const std::string& name) {
    all +=
        tag("circle", {{"cx", position(x + 4)}, {"cy", position(y)}, {"r", "3"}, {"class", style}});
    all += label(x + 10, y + 3, name, "note");
    x += 24 + 5.6 * static_cast<double>(name.size());
  };
  add("best", best);
  add("cublas", "cuBLAS");
  if (has_others) add("other", "the others");
  return all;
}

Markup svg_of(const Roofline& roofline, const std::string& title, const std::string& best,
              bool has_others) {
  constexpr double top = 30, bottom = 210;
  double narrow = 1, wide = 64, slow = roofline.peak_tflops / 10;
  for (const Point& point : roofline.points) {
    narrow = std::min(narrow, point.intensity);
    wide = std::max(wide, point.intensity);
    slow = std::min(slow, point.tflops);
  }
  const Scale x{std::log2(narrow), std::log2(wide * 1.2), left + 26, right};
  const Scale y{std::log10(slow * 0.8), std::log10(roofline.peak_tflops * 1.15), bottom, top};
  Markup all = key_of(best, has_others, 8);
  for (double at : decades(slow * 0.8, roofline.peak_tflops * 1.15)) {
    all += line(x.from, y(std::log10(at)), right, y(std::log10(at)), "grid");
    all += label(x.from - 4, y(std::log10(at)) + 3, fmt::format("{:g}", at), "tick", "end");
  }
  for (double power = std::ceil(x.low / 2) * 2; power <= x.high; power += 2) {
    all += line(x(power), top, x(power), bottom, "grid");
    all += label(x(power), bottom + 11, fmt::format("{:g}", std::exp2(power)), "tick", "middle");
  }
  const double knee = roofline.peak_tflops * 1e3 / roofline.memory_gb_s;
  std::string roof;
  for (double at : {narrow, std::clamp(knee, narrow, wide * 1.2), wide * 1.2})
    roof += fmt::format("{},{} ", position(x(std::log2(at))),
                        position(y(std::log10(roofline.roof(at)))));
  all += draw::curve(roof, "roof");
  all += label(right, y(std::log10(roofline.peak_tflops)) - 4,
               fmt::format("{} TFLOP/s, {} GB/s", digits(roofline.peak_tflops),
                           digits(roofline.memory_gb_s)),
               "note", "end");
  for (const char* style : {"other", "best", "cublas"})  // what matters lies on top
    for (const Point& point : roofline.points)
      if (point.style == std::string_view(style))
        all += mark(point, x(std::log2(point.intensity)), y(std::log10(point.tflops)));
  all += label((x.from + right) / 2, bottom + 24, "FLOP for each byte of A, B and C, logarithmic",
               "axis", "middle");
  all += label(left, top - 6, "TFLOP/s", "axis");
  std::vector<std::string> words;
  for (const Point& point : roofline.points)
    if (point.style == std::string_view("best"))
      words.push_back(fmt::format("{}: {} {} TFLOP/s, {:.0f} % of the roof", point.problem,
                                  point.variant, digits(point.tflops),
                                  100 * point.tflops / roofline.roof(point.intensity)));
  return figure(title, some_of(words, 40), bottom + 30, all);
}

std::string on(const Roofline& roofline) {
  return roofline.card.empty() ? "" : " on " + roofline.card;
}

}  // namespace

Markup roofline_section(const Report& report) {
  Markup all;
  for (Roofline& roofline : rooflines_in(report)) {
    std::map<std::string, Point*> fastest;
    for (Point& point : roofline.points) {
      if (point.variant == "cublas") {
        point.style = "cublas";
        continue;
      }
      Point*& best = fastest[point.problem];
      if (best == nullptr || best->tflops < point.tflops) best = &point;
    }
    for (const auto& [problem, point] : fastest) point->style = "best";
    all += svg_of(roofline, "Speed under the roof, each problem" + on(roofline),
                  "the fastest variant", true);
  }
  return all.empty()
             ? all
             : tag("section", {{"id", "roofline"}},
                   tag("h2", "The roofline") + tag("p", {{"class", "legend"}}, legend) + all);
}

Markup rooflines_of(const Report& report, const VariantReport& variant) {
  const std::string& name = variant.about.name;
  Markup all;
  for (Roofline& roofline : rooflines_in(report)) {
    for (Point& point : roofline.points)
      point.style = point.variant == name ? "best" : point.variant == "cublas" ? "cublas" : "other";
    std::erase_if(roofline.points,
                  [](const Point& point) { return point.style == std::string_view("other"); });
    if (std::ranges::count(roofline.points, name, &Point::variant) > 0)
      all += svg_of(roofline, "Under the roof" + on(roofline), name, false);
  }
  return all;
}

}  // namespace assay::report
