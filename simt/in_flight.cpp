#include "simt/in_flight.h"

#include <algorithm>

#include "base/scramble.h"

namespace simt {

void InFlight::put(const void* stream, const Launch& launch) {
  Waiting waiting{launch, {launch.kernel.copy(launch.kernel.arguments), launch.kernel.drop}};
  waiting.launch.kernel.arguments = waiting.arguments.get();
  auto its = std::find_if(streams_.begin(), streams_.end(),
                          [&](const auto& one) { return one.first == stream; });
  if (its == streams_.end()) its = streams_.insert(its, {stream, {}});
  its->second.push_back(std::move(waiting));
}

// Every other stretch is all that is left of a grid: what goes wrong between two kernels takes that
// the first one ends. By one seed in four a stream mostly goes on, so that one comes several
// launches ahead of another.
void InFlight::run_all(std::uint64_t seed,
                       const std::function<bool(const Launch&, const Stretch&)>& run) {
  const auto draw = [&](std::uint64_t most) { return (seed = assay::scramble(seed)) % most; };
  const bool goes_on = draw(4) == 0;
  std::uint64_t at = 0;
  while (!streams_.empty()) {
    if (at >= streams_.size() || !goes_on || draw(8) == 0) at = draw(streams_.size());
    const auto stream = streams_.begin() + static_cast<std::ptrdiff_t>(at);
    Waiting& next = stream->second.front();
    const std::uint64_t left = next.launch.blocks() - next.done;
    const std::uint64_t blocks = draw(2) == 0 ? left : 1 + draw(left);
    if (!run(next.launch, {next.done, next.done + blocks})) return;
    next.done += blocks;
    if (next.done < next.launch.blocks()) continue;
    stream->second.pop_front();
    if (stream->second.empty()) streams_.erase(stream);
  }
}

}  // namespace simt
