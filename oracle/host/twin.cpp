#include "oracle/host/twin.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "oracle/host/time_for_launches.h"

namespace assay {
std::size_t bytes_of(const Placed& p) {
  if (p.unreadable || p.rows == 0 || p.columns == 0) return 0;
  return static_cast<std::size_t>((p.rows - 1) * p.ld + p.columns) * sizeof(float);
}

Twin::Twin(const Given& given, const ByOperand<Placed>& placed, Shared shared)
    : placed_(placed), given_(given) {
  if (shared != Shared::nothing)
    placed_[static_cast<std::size_t>(shared == Shared::a ? Operand::a : Operand::b)] = {};
  for (const Operand o : operands_and_workspace) copy(o);
  const auto moved = [&](auto*& pointer, Operand o) {
    if (first(o) != nullptr) pointer = reinterpret_cast<decltype(+pointer)>(first(o));
  };
  moved(given_.a, Operand::a), moved(given_.b, Operand::b), moved(given_.c, Operand::c);
  moved(given_.workspace, Operand::workspace);
  const Operand doubled = shared == Shared::a ? Operand::b : Operand::a;
  const Placed& its = placed_[static_cast<std::size_t>(doubled)];
  auto* const floats = reinterpret_cast<float*>(first(doubled));
  for (std::int64_t row = 0; floats != nullptr && row < its.rows; ++row)
    for (std::int64_t i = 0; i < its.columns; ++i) floats[row * its.ld + i] *= 2;
  const std::byte* const c = first(Operand::c);
  c_at_first_.assign(c, c + bytes_of(placed_[static_cast<std::size_t>(Operand::c)]));
}

// To addresses that are aligned as those of the first problem are.
void Twin::copy(Operand o) {
  constexpr std::uintptr_t page = 4096;
  const auto i = static_cast<std::size_t>(o);
  const std::size_t bytes = bytes_of(placed_[i]);
  if (bytes == 0) return;
  memory_[i].resize(bytes + 2 * page);
  const auto at = reinterpret_cast<std::uintptr_t>(placed_[i].first) % page;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_[i].data());
  first_[i] = memory_[i].data() + (page - begin % page + at);
  std::memcpy(first_[i], placed_[i].first, bytes);
  placed_[i].first = first_[i];
}

std::vector<std::byte> Twin::take_c() {
  std::byte* const c = first(Operand::c);
  std::vector<std::byte> taken(c, c + c_at_first_.size());
  if (!taken.empty()) std::memcpy(c, c_at_first_.data(), c_at_first_.size());
  return taken;
}

Shared shared_by(const Plan& plan, const Case& c) {
  constexpr std::array by_seed = {Shared::nothing, Shared::b, Shared::a, Shared::b};
  return plan.shared_operand.value_or(by_seed[c.seed / 4 % by_seed.size()]);
}

int launches_of_twin(const Gemm& g, const Plan& plan) {
  if (plan.in_flight > 0) return plan.in_flight;
  constexpr double little = 1e5;  // multiply-adds
  const double products =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  return products <= little ? 5 : 1;
}

LaunchFailure launch_in_turns(const Twins& twins, int times, bool may_be_fewer,
                              const std::function<LaunchFailure(int, const Given&)>& launch) {
  constexpr int least = 16;
  const TimeForLaunches time;
  for (int i = 0; i < times; ++i) {
    if (may_be_fewer && i >= least && time.is_over()) break;
    const std::size_t turn = static_cast<std::size_t>(i) % twins.size();
    if (LaunchFailure failure = launch(static_cast<int>(turn), twins[turn]->given()))
      return failure;
  }
  return std::nullopt;
}

}  // namespace assay
