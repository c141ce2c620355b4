#include "properties/judging/launches_in_a_row.h"

#include "oracle/trial.h"

namespace assay {

LaunchesInARow::LaunchesInARow(const Entry& entry, const Case& c, const Resources& resources)
    : entry_(entry),
      c_(c),
      resources_(resources),
      machine_(machine_of(entry.backend, resources)),
      operands_(make_operands(c, Placement::guarded, {256, 256, 256})) {
  const auto place = [&](Operand o) { return machine_.place(o, operands_[o], Placement::guarded); };
  const float *const a = place(Operand::a), *const b = place(Operand::b);
  given_ = {gemm_of(c, a, b, place(Operand::c))};
  Image workspace;
  if (refusal(entry.variant, given_).empty())
    place_workspace(machine_, entry.variant, c, {}, given_, workspace);
}

std::optional<std::array<float, 2>> LaunchesInARow::elements() {
  float &first = *given_.c, &last = given_.c[(given_.m - 1) * given_.ldc];
  last = operands_[Operand::c].row(c_.m - 1)[0];
  first = operands_[Operand::c].row(0)[0];
  if (!refusal(entry_.variant, given_).empty()) return std::nullopt;
  if (machine_.launch(entry_.variant, given_, c_, {.open_to_host = true}, resources_))
    return std::nullopt;
  return std::array{first, last};
}

}  // namespace assay
