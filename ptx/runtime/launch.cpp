// Launches: what the hardware would refuse, the packing of arguments, and occupancy.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ptx/runtime/clusters.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

thread_local std::vector<Configuration> configurations;

std::string text(const Dim& d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

std::size_t dynamic_allowed(const Kernel& kernel, const KernelFacts& facts) {
  if (kernel.dynamic_allowed) return *kernel.dynamic_allowed;
  return Model::shared_per_block - std::min(Model::shared_per_block, facts.static_shared);
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
  const std::string a_block =
      "a block of " + text(block) + " has " + std::to_string(threads) + " threads, ";
  if (block.x > Model::max_threads || block.y > Model::max_threads || threads > Model::max_threads)
    return a_block + "1024 at most";
  if (block.z > Model::max_block_z)
    return "a block of " + text(block) + " threads: z may be 64 at most";
  if (threads > facts.max_threads) {
    return a_block + "and the kernel's __launch_bounds__ allow " +
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

int registers_of_thread(std::uint64_t threads) {
  return std::min(255, Model::registers / static_cast<int>((threads + 31) / 32 * 32) / 8 * 8);
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

// Throws what a GPU would answer with.
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
  const std::uint64_t fit = static_cast<std::uint64_t>(
                                blocks_that_fit(facts, asked.block.count(), asked.dynamic_shared)) *
                            static_cast<std::uint64_t>(multiprocessors());
  if (asked.grid.count() > fit) {
    throw refused(Error::cooperative_launch_too_large,
                  std::to_string(asked.grid.count()) + " blocks of a cooperative grid, and " +
                      std::to_string(fit) + " fit on the device together");
  }
}

std::vector<std::byte> packed(const Program::Kernel& code, void** arguments) {
  const std::span<const ParamPlace> places = params_of(code);
  std::vector<std::byte> params(places.empty() ? 0 : places.back().at + places.back().bytes);
  if (!places.empty() && arguments == nullptr) throw Failure{Error::invalid_value};
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(params.data() + places[i].at, arguments[i], places[i].bytes);
  return params;
}

// What the machine finds that it cannot run, once it is at it.
Outcome run_on_machine(const Kernel& kernel, const Launch& launch) {
  const Request* const request = state().request;
  try {
    return run(launch, state().memory, request == nullptr ? Settings{} : request->settings);
  } catch (const assay::BadInput& error) {
    throw Failure{Error::not_supported,
                  Finding{Fault::unsupported,
                          kernel.shown + " of " + kernel.binary->file() + ": " + error.what()}};
  }
}

// A launch where nothing runs.
void note(const Kernel& kernel, const Configuration& asked, const std::vector<std::byte>& params,
          Observation& seen) {
  ++seen.kernels;
  seen.blocks += asked.grid.count();
  const auto add = [&](std::uint64_t value) {
    seen.launched = (seen.launched ^ value) * 0x9e3779b97f4a7c15u;
    seen.launched ^= seen.launched >> 32;
  };
  const auto& [grid, block] = std::pair(asked.grid, asked.block);
  for (const std::uint64_t part :
       {std::uint64_t{grid.x}, std::uint64_t{grid.y}, std::uint64_t{grid.z}, block.count(),
        asked.dynamic_shared, asked.cluster.count()})
    add(part);
  add(reinterpret_cast<std::uintptr_t>(&kernel));
  for (const std::byte byte : params) add(static_cast<std::uint64_t>(byte));
}

// What a kernel printed. Within `observe` stdout is the caller's.
void show(const std::string& printed) {
  std::FILE* const to = state().seen == nullptr ? stdout : stderr;
  std::fwrite(printed.data(), 1, printed.size(), to);
  if (!printed.empty()) std::fflush(to);
}

std::uint64_t room_for(const Configuration& asked, int fit) {
  const auto all = static_cast<std::uint64_t>(fit * multiprocessors());
  const bool shares = !asked.cooperative && state().request != nullptr;
  return std::max<std::uint64_t>(1, shares ? all / state().request->shares_room : all);
}

// `turn` is that of a node of a graph.
void run_now(const Kernel& kernel, const Configuration& asked,
             const std::function<std::vector<std::byte>(const Program::Kernel&)>& params,
             const Turn* turn = nullptr) {
  State& device = state();
  if (device.stopped != Error::success) throw Failure{device.stopped};
  if (device.seen_enough) return;
  if (device.seen != nullptr && device.seen->is_part) {  // it would go by what is not all there
    device.seen->is_no_part = device.seen_enough = true;
    return;
  }
  const int number = device.seen == nullptr ? 0 : device.seen->launches++;
  if (device.request != nullptr &&
      (device.request->refuses_launches || device.request->refused_launch == number))
    throw Failure{Error::launch_failure};
  const StreamName stream = turn == nullptr ? name_of_stream(asked.stream) : turn->stream;
  const bool starts_early = asked.starts_early && (turn == nullptr || turn->starts_early);
  const Program::Kernel& code = code_of(kernel);
  refuse(kernel, facts_of(code), asked);
  // What misses that one's work may well stop at a fault, whose error is not the launch's.
  if (device.request != nullptr && number > device.request->refused_launch.value_or(number)) return;
  if (device.runs_nothing()) {
    note(kernel, asked, params(code), *device.seen);
    return;
  }
  const int fit =
      std::max(1, blocks_that_fit(facts_of(code), asked.block.count(), asked.dynamic_shared));
  const Launch launch{.kernel = &code,
                      .grid = asked.grid,
                      .block = asked.block,
                      .dynamic_shared = asked.dynamic_shared,
                      .params = params(code),
                      .cluster = cluster_of(kernel, facts_of(code), asked),
                      .cooperative = asked.cooperative,
                      .fit_together = fit,
                      .fit_on_device = room_for(asked, fit),
                      .past = past_of_next(stream, starts_early)};
  Outcome outcome = run_on_machine(kernel, launch);
  const bool overtakes = starts_early && !outcome.waited_for_grids;
  if (!overtakes && device.pending.is_in_use() && wrote_for_host(outcome.numbers))
    device.pending.tell_host(device.timeline.before_next(stream));
  device.timeline.add(
      stream,
      {.numbers = outcome.numbers, .name = kernel.shown, .kernel = &code, .overtakes = overtakes});
  show(outcome.printed);
  if (device.seen != nullptr) {
    ++device.seen->kernels;
    device.seen->extra_time += outcome.extra_time;
    const bool may_follow = device.request->settings.threads_run_whole != 0;
    device.seen->is_no_part |=
        outcome.is_part && (outcome.meets_others || (device.seen->kernels > 1 && !may_follow));
    device.seen->is_part |= outcome.is_part;
    device.seen->most_stored += outcome.most_stored;
    const auto& crowd = device.seen->crowd;
    if (outcome.crowd && (!crowd || crowd->together < outcome.crowd->together))
      device.seen->crowd = outcome.crowd;
    if (outcome.counts) device.seen->counts.push_back(std::move(*outcome.counts));
    if (outcome.watched) {
      device.seen_enough = outcome.watched->calls >= device.request->settings.most_watched;
      device.seen->watched.push_back(std::move(*outcome.watched));
    }
  }
  if (outcome.finding && !device.seen_enough) throw Failure{Error::success, outcome.finding};
}

// Its arguments are those of now; what else it goes by, such as a variable, that of each launch.
void record_launch(const void* stub, const Configuration& asked, void** arguments) {
  const Kernel& kernel = kernel_of(stub);
  const Program::Kernel& code = code_of(kernel);
  try {
    refuse(kernel, facts_of(code), asked);
  } catch (const Failure&) {
    capture_of(asked.stream).is_invalid = true;
    throw;
  }
  const auto run = [stub, asked, params = packed(code, arguments)](const Turn& turn) {
    run_now(
        kernel_of(stub), asked, [&](const auto&) { return params; }, &turn);
  };
  record(asked.stream, {.run = run, .kind = NodeKind::kernel});
}

// The variable of a function that has returned, which a launch of a graph would be given.
void call_later(std::function<void()> function, const void* data, StreamName stream,
                const void* frame) {
  if (frame != nullptr && is_gone(data, frame))
    throw Failure{Error::success,
                  Finding{Fault::bad_address,
                          "a function of the host in a graph is given the address of what was a "
                          "local variable of a function which has returned"}};
  state().pending.add_function(std::move(function), data, state().timeline.before_next(stream));
}

}  // namespace

Error push_configuration(const Configuration& configuration) {
  configurations.push_back(configuration);
  return Error::success;
}

Error pop_configuration(Configuration& result) {
  if (configurations.empty()) return fail(Error::missing_configuration);
  result = configurations.back();
  configurations.pop_back();
  return Error::success;
}

Error find_kernel(const void* stub) {
  return call([&] { kernel_of(stub); });
}

Error launch(const void* stub, const Configuration& asked, void** arguments) {
  return call([&] {
    const Kernel& kernel = kernel_of(stub);
    if (is_captured(asked.stream)) return record_launch(stub, asked, arguments);
    run_now(kernel, asked, [&](const Program::Kernel& code) { return packed(code, arguments); });
  });
}

Error call_host(void* stream, std::function<void()> function, const void* data) {
  return call([&] {
    need_stream(stream);
    if (!is_captured(stream))
      return call_later(std::move(function), data, name_of_stream(stream), nullptr);
    record(stream,
           {.run = [function = std::move(function), data](
                       const Turn& turn) { call_later(function, data, turn.stream, turn.frame); },
            .kind = NodeKind::host});
  });
}

Error call_back(void* stream, std::function<void()> function, const void* data) {
  const Error error = call([&] {
    need_stream(stream);
    forbid_if_captured(stream);
  });
  return error != Error::success ? error : call_host(stream, std::move(function), data);
}

Error attributes_of(const void* stub, KernelAttributes& result) {
  return call([&] {
    const Kernel& kernel = kernel_of(stub);
    const auto number = [](const std::string& version) {  // "9.0" and "sm_90a" are both 90
      int value = 0;
      for (const char c : version) value = c >= '0' && c <= '9' ? 10 * value + (c - '0') : value;
      return value;
    };
    result.facts = facts_of(code_of(kernel));
    result.max_dynamic_shared = dynamic_allowed(kernel, result.facts);
    result.carveout = kernel.carveout;
    const auto threads = std::clamp<std::uint64_t>(result.facts.max_threads, 1, Model::max_threads);
    result.registers =
        result.facts.registers != 0 ? result.facts.registers : registers_of_thread(threads);
    result.ptx_version = number(result.facts.target);
    result.binary_version = model().major * 10 + model().minor;
    result.cluster = result.facts.cluster.count() != 0 ? result.facts.cluster : kernel.cluster;
    result.allows_large_clusters = kernel.allows_large_clusters;
  });
}

Error allow_dynamic_shared(const void* stub, int bytes) {
  return call([&] {
    Kernel& kernel = kernel_of(stub);
    const std::size_t fixed = facts_of(code_of(kernel)).static_shared;
    if (bytes < 0 || static_cast<std::size_t>(bytes) + fixed > model().shared_optin)
      throw Failure{Error::invalid_value};
    kernel.dynamic_allowed = static_cast<std::size_t>(bytes);
  });
}

Error set_carveout(const void* stub, int percent) {
  return call([&] {
    if (percent < -1 || percent > 100) throw Failure{Error::invalid_value};
    kernel_of(stub).carveout = percent;
  });
}

Error name_of_kernel(const void* stub, const char*& name) {
  return call([&] { name = kernel_of(stub).name.c_str(); });
}

Error parameter_of(const void* stub, std::size_t index, ParamPlace& result) {
  return call([&] {
    const std::span<const ParamPlace> places = params_of(code_of(kernel_of(stub)));
    if (index >= places.size()) throw Failure{Error::invalid_value};
    result = places[index];
  });
}

Error occupancy(const void* stub, int threads, std::size_t dynamic_shared, int& blocks) {
  return call([&] {
    if (threads <= 0) throw Failure{Error::invalid_value};
    blocks = blocks_that_fit(facts_of(code_of(kernel_of(stub))),
                             static_cast<std::uint64_t>(threads), dynamic_shared);
  });
}

Error dynamic_shared_for(const void* stub, int blocks, int threads, std::size_t& bytes) {
  return call([&] {
    const KernelFacts& facts = facts_of(code_of(kernel_of(stub)));
    if (blocks <= 0 || threads <= 0 ||
        blocks_that_fit(facts, static_cast<std::uint64_t>(threads), 0) < blocks)
      throw Failure{Error::invalid_value};
    const std::size_t each = model().shared_per_multiprocessor / static_cast<std::size_t>(blocks) -
                             Model::reserved_shared;
    bytes = std::min(each, model().shared_optin) - facts.static_shared;
  });
}

}  // namespace ptx::runtime
