// One launch of a problem after the other, as many as a process has the time for.
#pragma once

#include <array>
#include <optional>

#include "kernels/registry.h"
#include "oracle/machine.h"
#include "oracle/operands.h"
#include "oracle/plan.h"

namespace assay {

// Between them the first elements of two rows of C alone are put back. For machines whose memory is
// the host's: to place C each time would cost more than a launch. The case must outlive it.
class LaunchesInARow {
 public:
  LaunchesInARow(const Entry&, const Case&, const Resources&);

  // Of B, as the launches find it.
  float& first_of_b() { return const_cast<float&>(*given_.b); }
  // What a launch leaves in column 0, of the first row and of the last one; nothing if it does not
  // come to its end.
  std::optional<std::array<float, 2>> elements();

 private:
  const Entry& entry_;
  const Case& c_;
  const Resources& resources_;
  Machine& machine_;
  const Operands operands_;
  Given given_;
};

}  // namespace assay
