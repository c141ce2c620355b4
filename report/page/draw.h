// What plots are drawn with: words, lines and scales in the units of a phone's width.
#pragma once

#include <string>
#include <vector>

#include "report/markup.h"

namespace assay::report::draw {

constexpr double width = 340, left = 8, right = 332;

Markup label(double x, double y, const std::string& text, const char* style,
             const char* anchor = "start");
Markup line(double x1, double y1, double x2, double y2, const char* style);
Markup box(double x, double y, double wide, double high, const char* style);
// Points as "x,y x,y" joined.
Markup curve(const std::string& points, const char* style);

// The picture with its title above it; the alternative says in words what it shows.
Markup figure(const std::string& title, const std::string& alternative, double height,
              const Markup& inside, const char* style = "plot");

// Round numbers from low to high, about five.
std::vector<double> ticks(double low, double high);
// Powers of ten from low to high; with few of them, also 2 and 5 times each.
std::vector<double> decades(double low, double high);

// From values to places; what lies outside goes to the end.
struct Scale {
  double low = 0, high = 1, from = left, to = right;
  double operator()(double value) const;
};

}  // namespace assay::report::draw
