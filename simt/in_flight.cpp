#include "simt/in_flight.h"

#include <algorithm>
#include <array>

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
// the first one ends. By one seed in four a stream mostly goes on, so that it comes several
// launches ahead of another; by two, one of them stands still behind a few stretches until all
// others have ended.
void InFlight::run_all(std::uint64_t seed,
                       const std::function<bool(const Launch&, const Stretch&)>& run) {
  if (streams_.empty()) return;
  const auto draw = [&](std::uint64_t most) { return (seed = assay::scramble(seed)) % most; };
  enum class Way { at_random, goes_on, stands_still };
  const Way way =
      std::array{Way::at_random, Way::goes_on, Way::stands_still, Way::stands_still}[draw(4)];
  std::swap(streams_[draw(streams_.size())], streams_.back());  // the one that would stand still
  const void* const still = streams_.back().first;
  std::uint64_t before = draw(5), at = 0;  // its stretches before it does
  const auto next_stream = [&] {
    const std::uint64_t last = streams_.size() - 1;
    if (way == Way::stands_still && last > 0 && streams_.back().first == still) {
      if (before == 0) return draw(last);
      --before;
      return last;
    }
    const bool stays = way == Way::goes_on && at <= last && draw(8) != 0;
    return stays ? at : draw(streams_.size());
  };
  while (!streams_.empty()) {
    at = next_stream();
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
