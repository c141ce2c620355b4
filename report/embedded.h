// Files of the repository that the build puts into the program, so that a page needs nothing else.
#pragma once

#include <string_view>

namespace assay::report::embedded {

extern const std::string_view result_schema;  // docs/result.schema.json
extern const std::string_view style;          // report/page/style.css
extern const std::string_view script;         // report/page/script.js

}  // namespace assay::report::embedded
