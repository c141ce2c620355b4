#include "ptx/runtime/launch/limits.h"

#include <algorithm>
#include <string>

#include "ptx/runtime/clusters.h"

namespace ptx::runtime {

namespace {

std::string text(const Dim& d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

// A warp has its registers in multiples of 256, in one of the four parts of a multiprocessor.
constexpr std::uint64_t parts = 4, registers_at_a_time = 256;

std::uint64_t warps_with_registers(const KernelFacts& facts) {
  const auto each = static_cast<std::uint64_t>(facts.registers) * 32;
  const std::uint64_t of_warp =
      (each + registers_at_a_time - 1) / registers_at_a_time * registers_at_a_time;
  return of_warp == 0 ? ~std::uint64_t{0} : Model::registers / parts / of_warp * parts;
}

}  // namespace

std::size_t dynamic_allowed(const Kernel& kernel, const KernelFacts& facts) {
  if (kernel.dynamic_allowed) return *kernel.dynamic_allowed;
  return Model::shared_per_block - std::min(Model::shared_per_block, facts.static_shared);
}

int registers_of_thread(std::uint64_t threads) {
  return std::min(255, Model::registers / static_cast<int>((threads + 31) / 32 * 32) / 8 * 8);
}

int blocks_that_fit(const KernelFacts& facts, std::uint64_t threads, std::size_t dynamic) {
  const Model& device = model();
  if (threads == 0 || threads > facts.max_threads || threads > Model::max_threads) return 0;
  const std::uint64_t warps = (threads + 31) / 32;
  const std::size_t shared = facts.static_shared + dynamic;
  if (shared > device.shared_optin) return 0;
  const auto by_threads =
      static_cast<std::uint64_t>(device.threads_per_multiprocessor) / 32 / warps;
  const std::uint64_t by_shared =
      device.shared_per_multiprocessor / (shared + Model::reserved_shared);
  const std::uint64_t by_registers = warps_with_registers(facts) / warps;
  return static_cast<int>(std::min({static_cast<std::uint64_t>(device.blocks_per_multiprocessor),
                                    by_threads, by_shared, by_registers}));
}

namespace {

std::string why_wrong_shape(const Dim& grid, const Dim& block, const KernelFacts& facts) {
  if (grid.count() == 0) return "a grid of " + text(grid) + " has no blocks";
  if (grid.x > Model::max_grid_x || grid.y > Model::max_grid_yz || grid.z > Model::max_grid_yz) {
    return "a grid of " + text(grid) + " blocks: y and z may be 65535 at most, x 2147483647";
  }
  const std::uint64_t threads = block.count();
  if (threads == 0) return "a block of " + text(block) + " has no threads";
  const auto a_block = [&] {
    return "a block of " + text(block) + " has " + std::to_string(threads) + " threads, ";
  };
  if (block.x > Model::max_threads || block.y > Model::max_threads || threads > Model::max_threads)
    return a_block() + "1024 at most";
  if (block.z > Model::max_block_z)
    return "a block of " + text(block) + " threads: z may be 64 at most";
  if (threads > facts.max_threads) {
    return a_block() + "and the kernel's __launch_bounds__ allow " +
           std::to_string(facts.max_threads);
  }
  return {};
}

std::string why_too_much_shared(const Kernel& kernel, const KernelFacts& facts,
                                std::size_t dynamic) {
  const std::size_t allowed = dynamic_allowed(kernel, facts);
  if (facts.static_shared <= Model::shared_per_block && dynamic <= allowed) return {};
  if (facts.static_shared > Model::shared_per_block)
    return std::to_string(facts.static_shared) + " bytes of static shared memory, 49152 at most";
  return std::to_string(dynamic) + " bytes of dynamic shared memory beside " +
         std::to_string(facts.static_shared) + " of static, " + std::to_string(allowed) +
         " allowed: cudaFuncSetAttribute allows up to " +
         std::to_string(model().shared_optin - facts.static_shared);
}

// What the machine code takes; where there is none, a loop carries its sums in registers, unless
// __launch_bounds__ say how many there are, and beside them a thread has an address at least, what
// it multiplies, and where the loop is.
std::string why_too_few_registers(const KernelFacts& facts, const Dim& block) {
  constexpr int least_beside = 5;
  const std::uint64_t threads = block.count();
  const int registers = registers_of_thread(threads);
  const bool is_known = facts.registers != 0;
  const bool fits = is_known ? warps_with_registers(facts) >= (threads + 31) / 32
                             : facts.sums + least_beside <= registers;
  if (fits) return {};
  const std::string taken = is_known
                                ? "it takes " + std::to_string(facts.registers)
                                : "a loop of it carries " + std::to_string(facts.sums) + " sums";
  return "a block of " + text(block) + " has " + std::to_string(threads) +
         " threads, which leaves " + std::to_string(registers) + " registers for each, and " +
         taken + ": with __launch_bounds__(" + std::to_string(threads) + ") it would run";
}

}  // namespace

void refuse(const Kernel& kernel, const KernelFacts& facts, const Configuration& asked) {
  const auto refused = [&](Error error, const std::string& why) {
    return Failure{error, Finding{Fault::launch_refused,
                                  "the launch of " + kernel.shown + " is refused: " + why}};
  };
  std::string why = why_wrong_shape(asked.grid, asked.block, facts);
  if (!why.empty()) throw refused(Error::invalid_value, why);
  why = why_too_much_shared(kernel, facts, asked.dynamic_shared);
  if (!why.empty()) throw refused(Error::invalid_value, why);
  why = why_too_few_registers(facts, asked.block);
  if (!why.empty()) throw refused(Error::launch_out_of_resources, why);
  why = why_no_such_cluster(kernel, facts, asked);
  if (!why.empty()) throw refused(Error::invalid_cluster_size, why);
  if (!asked.cooperative) return;
  const std::uint64_t fit = blocks_on_device(kernel, facts, asked);
  if (asked.grid.count() > fit) {
    throw refused(Error::cooperative_launch_too_large,
                  std::to_string(asked.grid.count()) + " blocks of a cooperative grid, and " +
                      std::to_string(fit) + " fit on the device together");
  }
}

}  // namespace ptx::runtime
