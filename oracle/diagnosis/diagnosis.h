// Describes a wrong result: which elements are wrong, and which mistake gives just these values.
//
// Names a mistake only if it explains every wrong element of a sample; otherwise only the place.
#pragma once

#include <string>

#include "oracle/finding.h"
#include "oracle/judge.h"

namespace assay {

struct WrongResult {
  const Case& c;
  const Variant& variant;
  const Operands& before;
  const Image& result;
  const Reference& reference;
  const Judgement& judgement;
};

struct Diagnosis {
  Finding finding;
  std::string words;
};

// Such as "the last 1 of 513 columns: the contribution of k = 776 is missing".
Diagnosis diagnose(const WrongResult&);

// What a NaN was made from, such as "a gap between rows"; without words if it is not our poison.
Diagnosis origin_of_nan(float value);

// Where the wrong elements lie, such as "the last 1 of 513 columns".
std::string describe_place(const Judgement&, std::int64_t m, std::int64_t n, const Tile&);

// The wrong elements as '#' in a map of C with at most 48 columns and 16 rows.
std::string picture(const Judgement&, std::int64_t m, std::int64_t n);

}  // namespace assay
