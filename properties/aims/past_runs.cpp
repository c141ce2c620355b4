#include "properties/aims/past_runs.h"

#include "properties/judging/variables.h"

namespace assay {
namespace {

constexpr std::size_t most_comparisons = 1 << 18;  // some 40 MiB
constexpr int most_changes = 16;  // so few may set something up; what changes more is never equal

}  // namespace

PastRuns::PastRuns(const Entry& entry)
    : launch_((entry.watched_launch == nullptr ? entry.variant.launch : entry.watched_launch)
                  .address()),
      on_ptx_(entry.watched_launch == nullptr) {}

std::uint64_t PastRuns::kept() const {
  return variables_beside(launch_) ^ (on_ptx_ ? hash_of_kept_memory_on_ptx() : 0);
}

std::optional<WatchedRun> PastRuns::find(const Case& c, std::uint64_t most_calls) {
  if (changes_ > most_changes) return std::nullopt;
  case_ = to_string(c), most_calls_ = most_calls, kept_ = kept();
  const auto found = runs_.find(case_);
  if (found == runs_.end() || found->second.kept != kept_) return std::nullopt;
  const Past& past = found->second;
  // One that came to its end does so wherever it may take longer.
  const bool came_to_its_end = past.run.calls < past.most_calls && past.run.calls < most_calls;
  if (!came_to_its_end && past.most_calls != most_calls) return std::nullopt;
  return past.run;
}

void PastRuns::add(const WatchedRun& run) {
  if (changes_ > most_changes || run.timed_out) return;
  if (kept() != kept_) {
    ++changes_;
    return;
  }
  if (comparisons_ > most_comparisons) return;
  comparisons_ += run.comparisons.size();
  Past& past = runs_[case_] = {most_calls_, kept_, run};
  past.run.places.clear();
}

}  // namespace assay
