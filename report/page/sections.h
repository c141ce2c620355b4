// The parts of the page, each a section with a heading that links can name.
#pragma once

#include <string>
#include <vector>

#include "report/markup.h"
#include "report/verdict.h"

namespace assay::report {

// The address of a variant's section in the page: "#variant-3".
std::string anchor_of(const Report&, const std::string& variant);

Markup matrix_section(const Report&);  // variants and backends against claims
Markup speed_section(const Report&);   // problems against variants; nothing without times
Markup ladder_section(const Report&);  // as an article draws it; nothing without its problems
// Speed beside what the card's arithmetic and memory allow; nothing without times.
Markup roofline_section(const Report&);
Markup rooflines_of(const Report&, const VariantReport&);
Markup history_of(const VariantReport&);  // its times, run by run
Markup variant_section(const Report&, const VariantReport&);

// A command to copy.
Markup command_line(const std::string&);
// "holds" or "fails" and the like, with a sign that does not need colour.
Markup badge(const std::string& status);
// A table that scrolls sideways where it is too wide; `name` is for those who do not see it.
Markup table(const std::string& name, const std::vector<Markup>& headings,
             const std::vector<std::vector<Markup>>& rows);

}  // namespace assay::report
