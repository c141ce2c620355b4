// How a trial ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oracle/finding.h"
#include "oracle/judge.h"

namespace assay {

enum class TrialStatus {
  right,
  wrong,
  refused,
  crashed,
  hung,
  harness_error,  // the harness itself failed, which says nothing about the variant
};
std::string_view to_string(TrialStatus);

// How many blocks of a grid had to be in flight at a time, and how many the device has room for.
struct Crowd {
  std::int64_t together = 0, fit = 0;
};

struct Verdict {
  TrialStatus status = TrialStatus::right;
  Finding finding = {};     // of anything but `right`
  std::string reason;       // one sentence on anything but `right`
  std::string diagnosis;    // of a wrong result: which elements, and what that usually means
  std::string picture;      // of the wrong elements of C, or the lines of source that are at fault
  std::string remark;       // one sentence on what is right, but worth knowing; else empty
  std::int64_t judged = 0;  // elements
  std::optional<Element> worst;
  double allowed_gulps = 0;
  std::optional<Crowd> crowd;  // if blocks waited for others that come later in their grid
  bool looked_at = false;  // every access, in the watched build, up to the first that is forbidden
  bool context_lost = false;  // the fault left this process useless for this backend
};

// That the variant is wrong: not that it refused, or that the harness failed.
bool is_failure(const Verdict&);

}  // namespace assay
