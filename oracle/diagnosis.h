// A wrong result in words: which elements, and which mistake would give just these values.
//
// A mistake is named only if it explains every wrong element that was looked at; otherwise only the
// place is told.
#pragma once

#include <string>

#include "oracle/judge.h"

namespace assay {

struct Finding {
  const Case& c;
  const Variant& variant;
  const Operands& before;
  const Image& result;
  const Reference& reference;
  const Judgement& judgement;
};

// Such as "the last 1 of 513 columns; the contribution of k = 776 is missing".
std::string diagnose(const Finding&);

// Where the wrong elements lie, such as "the last 1 of 513 columns".
std::string describe_place(const Judgement&, std::int64_t m, std::int64_t n, const Tile&);

// The wrong elements as '#' in a map of C with at most 48 columns and 16 rows.
std::string picture(const Judgement&, std::int64_t m, std::int64_t n);

}  // namespace assay
