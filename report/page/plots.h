// Pictures as inline SVG, each with a title, axes with units, and a text alternative. They are as
// wide as a phone, and grow with the page. Figures that are not finite are left out.
#pragma once

#include <string>
#include <vector>

#include "report/markup.h"
#include "report/mask.h"
#include "report/result.h"

namespace assay::report {

// Values with their intervals, one below the other, on a common axis.
struct DotPlot {
  std::string title, axis;  // with its unit
  std::string alternative;  // what it shows, in words
  double reference = 0;     // where the axis has a line, named:
  std::string reference_name;
  struct Row {
    std::string label, note;  // above the mark: what it is, and its value
    Interval at;
    std::string style;  // "bad", "good" or "plain"
  };
  std::vector<Row> rows;
};
Markup svg_of(const DotPlot&);

// The median and the worst error over k beside what is allowed, both axes logarithmic.
Markup svg_of(const Spread&, const std::string& title);

// With the borders of tiles where they can be drawn.
Markup svg_of(const Mask&);

}  // namespace assay::report
