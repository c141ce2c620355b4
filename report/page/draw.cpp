#include "report/page/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::report::draw {

Markup label(double x, double y, const std::string& text, const char* style, const char* anchor) {
  return tag("text",
             {{"x", position(x)}, {"y", position(y)}, {"class", style}, {"text-anchor", anchor}},
             text);
}

Markup line(double x1, double y1, double x2, double y2, const char* style) {
  return tag("line", {{"x1", position(x1)},
                      {"y1", position(y1)},
                      {"x2", position(x2)},
                      {"y2", position(y2)},
                      {"class", style}});
}

Markup box(double x, double y, double wide, double high, const char* style) {
  return tag("rect", {{"x", position(x)},
                      {"y", position(y)},
                      {"width", position(wide)},
                      {"height", position(high)},
                      {"class", style}});
}

Markup curve(const std::string& points, const char* style) {
  return tag("polyline", {{"points", points}, {"class", style}});
}

Markup figure(const std::string& title, const std::string& alternative, double height,
              const Markup& inside, const char* style) {
  const Markup svg = tag("svg",
                         {{"viewBox", fmt::format("0 0 {} {}", position(width), position(height))},
                          {"role", "img"},
                          {"class", style}},
                         tag("title", fmt::format("{}. {}", title, alternative)) + inside);
  return tag("figure", tag("figcaption", title) + svg);
}

// Round numbers from low to high, about five.
std::vector<double> ticks(double low, double high) {
  const double rough = (high - low) / 4, power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (double factor : {2.0, 5.0, 10.0})
    if (step < rough) step = factor * power;
  std::vector<double> all;
  for (double at = std::ceil(low / step) * step; at <= high + step / 1e6; at += step)
    all.push_back(std::abs(at) < step / 1e6 ? 0 : at);
  return all;
}

std::vector<double> decades(double low, double high) {
  const bool few = high / low < 100;
  std::vector<double> all;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (double factor : {1.0, 2.0, 5.0})
      if ((factor == 1 || few) && factor * power >= low && factor * power <= high)
        all.push_back(factor * power);
  return all;
}

double Scale::operator()(double value) const {
  return from + (to - from) * std::clamp((value - low) / (high - low), 0.0, 1.0);
}

}  // namespace assay::report::draw
