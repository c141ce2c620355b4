// Launches, and what host code asks about kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "ptx/runtime/clusters.h"
#include "ptx/runtime/launch/limits.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

thread_local std::vector<Configuration> configurations;

std::vector<std::byte> packed(const Program::Kernel& code, void** arguments) {
  const std::span<const ParamPlace> places = params_of(code);
  std::vector<std::byte> params(places.empty() ? 0 : places.back().at + places.back().bytes);
  if (!places.empty() && arguments == nullptr) throw Failure{Error::invalid_value};
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(params.data() + places[i].at, arguments[i], places[i].bytes);
  return params;
}

// What the machine finds that it cannot run, once it is at it.
void begin(const Kernel& kernel, UnderWay::One one, const Unordered& as,
           std::optional<std::uint64_t> pause) {
  try {
    state().under_way.begin(std::move(one), as, pause);
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
  seen.blocks_of[&kernel] += asked.grid.count();
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
  for (std::size_t i = 0; i < params.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, params.data() + i, std::min(sizeof word, params.size() - i));
    add(word);
  }
}

// That of a launch.
void note(Outcome& outcome, Observation& seen) {
  const Settings& settings = state().request->settings;
  ++seen.kernels;
  seen.extra_time += outcome.extra_time;
  if (!outcome.seen_late.empty()) seen.seen_late = std::move(outcome.seen_late);
  if (!outcome.heap_used_up.empty()) seen.heap_used_up = std::move(outcome.heap_used_up);
  const bool may_follow = settings.threads_run_whole != 0;
  seen.is_no_part |= outcome.is_part && (outcome.meets_others || (seen.kernels > 1 && !may_follow));
  seen.is_part |= outcome.is_part;
  seen.most_stored += outcome.most_stored;
  const bool is_larger =
      outcome.crowd && (!seen.crowd || seen.crowd->together < outcome.crowd->together);
  if (is_larger) seen.crowd = outcome.crowd;
  if (outcome.counts) seen.counts.push_back(std::move(*outcome.counts));
  if (outcome.watched) {
    state().seen_enough = outcome.watched->calls >= settings.most_watched;
    seen.watched.push_back(std::move(*outcome.watched));
  }
}

// Whether a launch may be left in the middle, and a number for that. The host may wait for what
// a kernel writes to its memory without a call.
std::optional<std::uint64_t> pause_of(const Configuration& asked, bool starts_early) {
  constexpr std::uint64_t most_blocks = 1 << 16;
  const State& device = state();
  const auto is_for_host = [](const auto& one) { return one.second.use != Use::device; };
  if (device.request == nullptr || !device.request->meet || starts_early) return std::nullopt;
  const Settings& settings = device.request->settings;
  const bool is_whole =
      settings.most_blocks == 0 && settings.most_watched == 0 && asked.grid.count() <= most_blocks;
  if (!is_whole || settings.order != Order::shuffled) return std::nullopt;
  if (std::any_of(device.allocations.begin(), device.allocations.end(), is_for_host))
    return std::nullopt;
  return settings.seed + static_cast<std::uint64_t>(device.seen->launches);
}

// What a kernel printed. Within `observe` stdout is the caller's.
void show(const std::string& printed) {
  std::FILE* const to = state().seen == nullptr ? stdout : stderr;
  std::fwrite(printed.data(), 1, printed.size(), to);
  if (!printed.empty()) std::fflush(to);
}

std::uint64_t room_for(const Kernel& kernel, const KernelFacts& facts, const Configuration& asked) {
  const std::uint64_t all = blocks_on_device(kernel, facts, asked);
  const bool shares = !asked.cooperative && state().request != nullptr;
  return std::max<std::uint64_t>(1, shares ? all / state().request->shares_room : all);
}

// Behind a launch of which most blocks were left out: the next one goes by what is not all there,
// but where it reads and writes may be seen all the same, if that asks nothing of others.
bool may_follow_part() {
  State& device = state();
  const bool is_told = device.seen->is_no_part && !device.follows_part;
  device.seen->is_no_part = device.follows_part = true;
  device.seen_enough = is_told || device.request->settings.threads_run_whole == 0;
  return !device.seen_enough;
}

// `turn` is that of a node of a graph.
void run_now(const Kernel& kernel, const Configuration& asked,
             const std::function<std::vector<std::byte>(const Program::Kernel&)>& params,
             const Turn* turn = nullptr) {
  State& device = state();
  if (device.stopped != Error::success) throw Failure{device.stopped};
  if (device.seen_enough) return;
  if (device.seen != nullptr && device.seen->is_part && !may_follow_part()) return;
  const int number = device.seen == nullptr ? 0 : device.seen->launches++;
  const auto most = device.request == nullptr ? std::nullopt : device.request->most_launches;
  if (most && number >= *most)
    throw Failure{
        Error::launch_failure,
        Finding{Fault::never_ends, fmt::format("it launches more than {} kernels", *most)}};
  if (device.request != nullptr &&
      (device.request->refuses_launches || device.request->refused_launch == number))
    throw Failure{Error::launch_failure};
  const StreamName stream = turn == nullptr ? name_of_stream(asked.stream) : turn->stream;
  const bool starts_early = asked.starts_early && (turn == nullptr || turn->starts_early);
  const Program::Kernel& code = code_of(kernel);
  refuse(kernel, facts_of(code), asked);
  // What misses that one's work may well stop at a fault, whose error is not the launch's.
  if (device.request != nullptr && number > device.request->refused_launch.value_or(number)) return;
  device.has_used_heap |= facts_of(code).uses_heap;
  if (device.runs_nothing()) {
    note(kernel, asked, params(code), *device.seen);
    return;
  }
  ++device.launched;
  const int fit =
      std::max(1, blocks_that_fit(facts_of(code), asked.block.count(), asked.dynamic_shared));
  Launch launch{.kernel = &code,
                .grid = asked.grid,
                .block = asked.block,
                .dynamic_shared = asked.dynamic_shared,
                .params = params(code),
                .cluster = cluster_of(kernel, facts_of(code), asked),
                .cooperative = asked.cooperative,
                .fit_together = fit,
                .fit_on_device = room_for(kernel, facts_of(code), asked),
                .stack_of_thread = device.limits[0],
                .past = past_of_next(stream, starts_early)};
  if (!device.memory.has_numbers_for(asked.grid.count())) device.under_way.finish_all();
  Settings settings = device.request == nullptr ? Settings{} : device.request->settings;
  settings.follows_part = device.follows_part;
  LaunchUnderWay begun(std::move(launch), device.memory, settings);
  const Unordered as{.numbers = begun.numbers(), .name = kernel.shown, .kernel = &code};
  const Known before = device.timeline.before_next(stream);
  const Known self = device.timeline.add(stream, as);
  const auto end = [=, &kernel, follows_part = settings.follows_part](Outcome outcome) {
    State& its = state();
    const bool overtakes = starts_early && !outcome.waited_for_grids;
    if (overtakes) its.timeline.note_that_last_overtakes(stream);
    if (!overtakes && its.pending.is_in_use() && wrote_for_host(as.numbers))
      its.pending.tell_host(before);
    hold_for_blocks(as, self);
    show(outcome.printed);
    if (its.seen != nullptr) note(outcome, *its.seen);
    const bool counts = outcome.finding && (!follows_part || stands_alone(outcome.finding->fault));
    if (counts && !its.seen_enough) throw Failure{Error::success, outcome.finding};
    its.seen_enough |= follows_part;  // what comes next would take what that has left for known
  };
  begin(kernel, {std::move(begun), self, end}, as, pause_of(asked, starts_early));
}

// A kernel in a graph has the attributes of its stream, where it has none of its own.
Configuration with_attributes(Configuration asked) {
  constexpr int priority = 8;
  const auto own = state().attributes.find(name_of_stream(asked.stream).number);
  if (own != state().attributes.end())
    asked.attributes.insert(own->second.begin(), own->second.end());
  StreamFacts facts;
  stream_facts(asked.stream, facts);
  AttributeValue value{};
  std::memcpy(&value, &facts.priority, sizeof facts.priority);
  if (facts.priority != 0) asked.attributes.insert({priority, value});
  return asked;
}

void record_launch(const void* stub, const Configuration& asked, void** arguments) {
  const Kernel& kernel = kernel_of(stub);
  const Program::Kernel& code = code_of(kernel);
  try {
    refuse(kernel, facts_of(code), asked);
  } catch (const Failure&) {
    capture_of(asked.stream).is_invalid = true;
    throw;
  }
  record(asked.stream, node_of_launch(stub, with_attributes(asked), packed(code, arguments)));
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

// Its arguments are those of now; what else it goes by, such as a variable, that of each launch.
Node node_of_launch(const void* stub, const Configuration& asked, std::vector<std::byte> params) {
  const auto launch = std::make_shared<LaunchOfNode>(LaunchOfNode{stub, asked, params, {}});
  for (const ParamPlace& place : params_of(code_of(kernel_of(stub))))
    launch->arguments.push_back(launch->params.data() + place.at);
  const auto run = [launch](const Turn& turn) {
    run_now(
        kernel_of(launch->stub), launch->configuration, [&](const auto&) { return launch->params; },
        &turn);
  };
  return {.run = run, .kind = NodeKind::kernel, .launch = launch};
}

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
  const auto work = [&] {
    const Kernel& kernel = kernel_of(stub);
    if (is_captured(asked.stream)) return record_launch(stub, asked, arguments);
    run_now(kernel, asked, [&](const Program::Kernel& code) { return packed(code, arguments); });
  };
  return call(std::ref(work));
}

Error call_host(void* stream, std::function<void()> function, const void* data,
                const void* address) {
  return call([&] {
    need_stream(stream);
    if (!is_captured(stream))
      return call_later(std::move(function), data, name_of_stream(stream), nullptr);
    record(stream,
           {.run = [function = std::move(function), data](
                       const Turn& turn) { call_later(function, data, turn.stream, turn.frame); },
            .kind = NodeKind::host,
            .does = CallOfNode{address, data}});
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

Error parameters_of(const void* stub, std::vector<ParamPlace>& result) {
  return call([&] {
    const std::span<const ParamPlace> places = params_of(code_of(kernel_of(stub)));
    result.assign(places.begin(), places.end());
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
