#include "properties/aims/branch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "oracle/watched/watched_run.h"
#include "properties/aims/condition.h"
#include "properties/aims/places.h"

namespace assay {
namespace {

constexpr std::uint64_t calls_of_a_run = 1'500'000, calls_of_the_first = 10'000'000;  // of
constexpr std::uint64_t calls_together = 40'000'000;                                  // the watch
constexpr int most_failing = 12;
constexpr int least_elsewhere = 3;  // passing cases that go another way

using Seen = std::map<const void*, Comparison>;  // in one run

// What the watched build compares in each case, as long as the budget lasts.
class Watcher {
 public:
  explicit Watcher(const Entry& entry) : entry_(entry) {}

  // Nothing where the run did not come to its end: what it did not see, it may have missed.
  std::optional<Seen> run(const Case& c, std::uint64_t most = calls_of_a_run) {
    most = std::min(most, left_);
    if (most == 0) return std::nullopt;
    const WatchedRun run = watched_run(entry_, c, most);
    left_ -= run.timed_out ? left_ : std::min(left_, run.cost());
    if (run.timed_out || run.calls >= most || run.comparisons.empty()) return std::nullopt;
    Seen seen;
    for (const Comparison& comparison : run.comparisons) seen[comparison.where] = comparison;
    return seen;
  }

 private:
  const Entry& entry_;
  std::uint64_t left_ = calls_together;
};

bool went(const Comparison& c, const void* way) { return c.ways[0] == way || c.ways[1] == way; }

// A way that a comparison goes in every failing case.
struct Suspect {
  Place place;
  Comparison seen;  // in the first failing case
  const void* way;
  int failing = 0, passing = 0, elsewhere = 0;  // cases; those elsewhere pass
  Relations of_elsewhere = none;

  // A few cases may go that way and pass: what is wrong there need not change their result.
  bool is_clear() const { return elsewhere >= least_elsewhere && 4 * passing <= failing; }
};

std::vector<Suspect> suspects_in(const Seen& first, const std::map<const void*, Place>& places) {
  std::vector<Suspect> all;
  for (const auto& [where, seen] : first) {
    const auto place = places.find(where);
    if (place == places.end() || !place->second.decides_branch) continue;
    if (!is_of_the_author(place->second)) continue;
    for (const void* way : seen.ways) {
      if (way != nullptr) all.push_back({place->second, seen, way});
    }
  }
  return all;
}

void hold_against(std::vector<Suspect>& suspects, const Seen& run, bool fails) {
  const auto goes = [&](const Suspect& s) {
    const auto found = run.find(s.seen.where);
    return found != run.end() && went(found->second, s.way);
  };
  if (fails) std::erase_if(suspects, [&](const Suspect& s) { return !goes(s); });
  for (Suspect& s : suspects) {
    const auto found = run.find(s.seen.where);
    if (found == run.end()) continue;
    (fails ? s.failing : goes(s) ? s.passing : s.elsewhere) += 1;
    if (!fails && !goes(s))
      s.of_elsewhere = static_cast<Relations>(s.of_elsewhere | relations_of(found->second));
  }
}

// Those that the fewest passing cases share, the one that was reached first in front.
std::vector<Suspect> clearest(std::vector<Suspect> suspects) {
  std::erase_if(suspects, [](const Suspect& s) { return !s.is_clear(); });
  int fewest = most_failing;
  for (const Suspect& s : suspects) fewest = std::min(fewest, s.passing);
  std::erase_if(suspects, [&](const Suspect& s) { return s.passing > fewest; });
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return a.seen.first_call < b.seen.first_call;
  });
  return suspects;
}

Branch branch_of(const Suspect& s) {
  const auto here = static_cast<Relations>(relations_of(s.seen) & ~s.of_elsewhere);
  Condition condition =
      condition_in(source_line(s.place, s.place.line), s.seen, here, s.of_elsewhere);
  return {s.place.file, s.place.line, std::move(condition.text), condition.is_true};
}

}  // namespace

std::string to_string(const Branch& branch) {
  const std::string condition =
      branch.condition.empty() ? "a comparison" : fmt::format("`{}`", branch.condition);
  const char* way = !branch.is_true   ? "goes the other way than in cases that pass"
                    : *branch.is_true ? "is true"
                                      : "is false";
  return fmt::format("only where {} {}: {}:{}", condition, way, branch.file, branch.line);
}

std::optional<Branch> branch_behind(const Entry& entry, const Verdicts& verdicts) try {
  if (entry.watched_launch == nullptr || verdicts.failing.empty()) return std::nullopt;
  const auto places = code_beside(entry.watched_launch.address()).places;
  Watcher watcher(entry);
  const auto first = watcher.run(verdicts.failing.front(), calls_of_the_first);
  if (!first) return std::nullopt;
  std::vector<Suspect> suspects = suspects_in(*first, places);
  int failing = 0;
  for (const Case& c : verdicts.failing) {
    if (failing++ == most_failing) break;
    if (const auto run = watcher.run(c)) hold_against(suspects, *run, true);
  }
  for (const Case& c : verdicts.passing) {
    if (const auto run = watcher.run(c)) hold_against(suspects, *run, false);
  }
  const std::vector<Suspect> clear = clearest(std::move(suspects));
  if (clear.empty()) return std::nullopt;
  Branch branch = branch_of(clear.front());
  for (const Suspect& other : clear) {
    const Branch same = branch_of(other);
    if (same.condition == branch.condition && same.is_true == branch.is_true) continue;
    if (same.file != branch.file || same.line != branch.line) return std::nullopt;
    branch.condition = all_that_is_asked(source_line(other.place, other.place.line));
    branch.is_true.reset();
    break;
  }
  return branch;
} catch (const std::runtime_error&) {  // without objdump nothing can be named
  return std::nullopt;
}

}  // namespace assay
