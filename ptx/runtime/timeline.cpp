#include "ptx/runtime/timeline.h"

#include <algorithm>
#include <utility>

namespace ptx::runtime {

namespace {

constexpr unsigned long long legacy = 1;

const Unordered callers_work = {.numbers = {}, .name = "the caller's earlier work"};

void learn(Timeline::Known& known, const Timeline::Known& more) {
  for (const auto& [stream, operations] : more) {
    std::uint64_t& own = known[stream];
    own = std::max(own, operations);
  }
}

}  // namespace

Timeline::Stream& Timeline::stream(StreamName name) {
  return streams_.try_emplace(name.number, Stream{.name = name, .known = {}}).first->second;
}

// Each is an operation of its own, so that what comes after it knows of it.
void Timeline::begin(const std::vector<StreamName>& of_caller) {
  *this = {};
  of_caller_ = of_caller;
  for (const StreamName& name : of_caller)
    stream(name).known[name.number] = ++stream(name).operations;
}

Timeline::Known Timeline::before_next(StreamName name) const {
  Known known = host_;
  learn(known, told_);
  for (const auto& [number, other] : streams_) {
    const bool waits =
        !name.is_apart && !other.name.is_apart && (number == legacy || name.number == legacy);
    if (number == name.number || waits) learn(known, other.known);
  }
  return known;
}

std::vector<Unordered> Timeline::unknown_to(const Known& known) const {
  std::vector<Unordered> all;
  for (const auto& [number, one] : streams_) {
    const auto found = known.find(number);
    const std::uint64_t over = found == known.end() ? 0 : found->second;
    const std::uint64_t first = one.operations - one.under_way.size();  // of those under way
    for (std::uint64_t i = std::max(over, first); i < one.operations; ++i)
      all.push_back(one.under_way[i - first]);
  }
  return all;
}

// Whether a kernel of this stream that starts early may find the caller's kernels still running:
// all that were enqueued since have started early, too, and waited for nothing.
bool Timeline::may_overtake_caller(const Stream& one) const {
  const auto is_it = [&](const StreamName& its) { return its.number == one.name.number; };
  return std::any_of(of_caller_.begin(), of_caller_.end(), is_it) &&
         !host_.contains(one.name.number) &&
         std::all_of(one.under_way.begin(), one.under_way.end(),
                     [](const Unordered& its) { return its.overtakes; });
}

Past Timeline::past_of_next(StreamName name, bool starts_early) const {
  const Known known = before_next(name);
  const auto knows = [&](const StreamName& its) { return known.find(its.number) != known.end(); };
  Past past = {.unordered = unknown_to(known)};
  if (!of_caller_.empty() && std::none_of(of_caller_.begin(), of_caller_.end(), knows))
    past.caller = callers_work;
  const auto own = streams_.find(name.number);
  if (starts_early && own != streams_.end() && may_overtake_caller(own->second)) {
    past.caller = callers_work;
    (own->second.under_way.empty() ? past.caller->until_waited_for : past.caller->is_overtaken) =
        true;
  }
  if (starts_early && own != streams_.end() && !own->second.under_way.empty() &&
      own->second.under_way.back().kernel != nullptr) {
    past.unordered.push_back(own->second.under_way.back());
    past.unordered.back().until_waited_for = true;
    // To wait for a kernel that has overtaken others is not to wait for these.
    for (auto ahead = own->second.under_way.rbegin();
         ahead->overtakes && std::next(ahead) != own->second.under_way.rend(); ++ahead) {
      past.unordered.push_back(*std::next(ahead));
      past.unordered.back().is_overtaken = true;
    }
  }
  return past;
}

Timeline::Known Timeline::add(StreamName name, Unordered what) {
  Known known = before_next(name);
  Stream& its = stream(name);
  known[name.number] = ++its.operations;
  its.known = std::move(known);
  its.under_way.push_back(std::move(what));
  return {{name.number, its.operations}};
}

void Timeline::note_that_last_overtakes(StreamName name) {
  if (!stream(name).under_way.empty()) stream(name).under_way.back().overtakes = true;
}

void Timeline::wait(StreamName name, const Known& known) { learn(stream(name).known, known); }

void Timeline::wait_on_host(const Known& known) {
  learn(host_, known);
  for (auto& [number, one] : streams_) {
    const auto found = host_.find(number);
    while (found != host_.end() && !one.under_way.empty() &&
           one.operations - one.under_way.size() < found->second)
      one.under_way.pop_front();
  }
}

Timeline::Known Timeline::of_all() const {
  Known all = host_;
  for (const auto& [_, one] : streams_) learn(all, one.known);
  return all;
}

bool covers(const Timeline::Known& all, const Timeline::Known& some) {
  return std::all_of(some.begin(), some.end(), [&](const auto& of_stream) {
    const auto found = all.find(of_stream.first);
    return found != all.end() && found->second >= of_stream.second;
  });
}
bool Timeline::host_knows(const Known& known) const { return covers(host_, known); }

void Timeline::tell_host(const Known& known) { learn(told_, known); }
bool Timeline::host_may_know(const Known& known) const {
  Known all = host_;
  learn(all, told_);
  return covers(all, known);
}

std::vector<Unordered> Timeline::left_over() const {
  Known known;
  for (const StreamName& name : of_caller_) learn(known, before_next(name));
  return unknown_to(known);
}

}  // namespace ptx::runtime
