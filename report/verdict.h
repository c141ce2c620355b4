// What a report amounts to: one word, one sentence with its power, and what needs attention, the
// worst first.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace assay::report {

enum class Kind { wrong, slower, contradiction, undecided, unreached, near };
const char* to_string(Kind);

struct Attention {
  Kind kind;
  std::string variant;               // empty where it is about no single one
  std::string what;                  // one line
  std::vector<std::string> details;  // more lines
  std::string picture;               // of what is wrong, or the lines at fault; in lines
  std::string repeat;                // the command that shows it again, if any
  std::vector<Place> places;
  std::string rule;  // the claim, "slower", ...: what tools group by
};

struct Verdict {
  std::string word;  // FAIL, UNDECIDED, PASS, NOTHING JUDGED
  std::string sentence;
  std::vector<Attention> attention;
};

// FAIL: something is wrong, slower, or contradicts itself. PASS: something was judged, and nothing
// is undecided.
Verdict verdict_of(const Report&);

}  // namespace assay::report
