#include "oracle/host/device_loan.h"

#include "ptx/runtime/observe.h"

namespace assay {
namespace {

std::unique_lock<std::mutex> one_at_a_time() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

std::uint64_t bytes(std::int64_t floats) {
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

}  // namespace

DeviceLoan::DeviceLoan(const ByOperand<Placed>& placed, bool c_is_read) : lock_(one_at_a_time()) {
  add(placed, c_is_read);
}

void DeviceLoan::add(const ByOperand<Placed>& placed, bool c_is_read) {
  for (const Operand o : operands_and_workspace) {
    const Placed& p = placed[static_cast<std::size_t>(o)];
    if (p.unreadable || p.rows == 0 || p.columns == 0) continue;
    const auto first = reinterpret_cast<std::uint64_t>(p.first);
    ptx::device_memory().lend({.name = to_string(o),
                               .first = first,
                               .rows = static_cast<std::uint64_t>(p.rows),
                               .row_bytes = bytes(p.columns),
                               .pitch_bytes = bytes(p.rows > 1 ? p.ld : p.columns),
                               .element_bytes = sizeof(float),
                               .is_of_caller = true,
                               .writable = !is_input(o),
                               .is_result = o == Operand::c,
                               .written = is_input(o) || (o == Operand::c && c_is_read)});
    lent_.push_back(first);
  }
}

void DeviceLoan::renew(const ByOperand<Placed>& placed, bool c_is_read) {
  give_back();
  add(placed, c_is_read);
}

void DeviceLoan::give_back() {
  for (const std::uint64_t first : lent_) ptx::device_memory().forget(first);
  lent_.clear();
}

DeviceLoan::~DeviceLoan() { give_back(); }

}  // namespace assay
