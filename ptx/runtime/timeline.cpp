#include "ptx/runtime/timeline.h"

#include <algorithm>
#include <utility>

namespace ptx::runtime {

namespace {

constexpr unsigned long long legacy = 1;

const Unordered callers_work = {.numbers = {}, .name = "the caller's earlier work"};

}  // namespace

Known::Known(std::initializer_list<Operations> all) {
  for (const auto& [stream, operations] : all) learn(stream, operations);
}

std::uint64_t Known::of(unsigned long long stream) const {
  const auto found = std::ranges::lower_bound(all_, stream, {}, &Operations::first);
  return found == all_.end() || found->first != stream ? 0 : found->second;
}

void Known::learn(unsigned long long stream, std::uint64_t operations) {
  const auto found = std::ranges::lower_bound(all_, stream, {}, &Operations::first);
  if (found == all_.end() || found->first != stream)
    all_.emplace(found, stream, operations);
  else
    found->second = std::max(found->second, operations);
}

void Known::learn(const Known& more) {
  auto own = all_.begin();
  std::vector<Operations> others;  // of streams that it did not know
  for (const Operations& its : more.all_) {
    while (own != all_.end() && own->first < its.first) ++own;
    if (own == all_.end() || own->first != its.first)
      others.push_back(its);
    else
      own->second = std::max(own->second, its.second);
  }
  if (others.empty()) return;
  const auto middle = all_.insert(all_.end(), others.begin(), others.end());
  std::inplace_merge(all_.begin(), middle, all_.end());
}

bool Known::covers(const Known& some) const {
  auto own = all_.begin();
  return std::ranges::all_of(some.all_, [&](const Operations& its) {
    while (own != all_.end() && own->first < its.first) ++own;
    return own != all_.end() && own->first == its.first && own->second >= its.second;
  });
}

Timeline::Stream& Timeline::stream(StreamName name) {
  return streams_.try_emplace(name.number, Stream{.name = name, .known = {}}).first->second;
}

// Each is an operation of its own, so that what comes after it knows of it.
void Timeline::begin(const std::vector<StreamName>& of_caller) {
  *this = {};
  of_caller_ = of_caller;
  for (const StreamName& name : of_caller)
    stream(name).known.learn(name.number, ++stream(name).operations);
}

Known Timeline::before_next(StreamName name) const {
  Known known = host_;
  known.learn(told_);
  for (const auto& [number, other] : streams_) {
    const bool waits =
        !name.is_apart && !other.name.is_apart && (number == legacy || name.number == legacy);
    if (number == name.number || waits) known.learn(other.known);
  }
  return known;
}

std::vector<Unordered> Timeline::unknown_to(const Known& known) const {
  std::vector<Unordered> all;
  for (const auto& [number, one] : streams_) {
    const std::uint64_t first = one.operations - one.under_way.size();  // of those under way
    for (std::uint64_t i = std::max(known.of(number), first); i < one.operations; ++i)
      all.push_back(one.under_way[i - first]);
  }
  return all;
}

// Whether a kernel of this stream that starts early may find the caller's kernels still running:
// all that were enqueued since have started early, too, and waited for nothing.
bool Timeline::may_overtake_caller(const Stream& one) const {
  const auto is_it = [&](const StreamName& its) { return its.number == one.name.number; };
  return std::any_of(of_caller_.begin(), of_caller_.end(), is_it) &&
         host_.of(one.name.number) == 0 &&
         std::all_of(one.under_way.begin(), one.under_way.end(),
                     [](const Unordered& its) { return its.overtakes; });
}

Past Timeline::past_of_next(StreamName name, bool starts_early) const {
  const Known known = before_next(name);
  const auto knows = [&](const StreamName& its) { return known.of(its.number) != 0; };
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

Known Timeline::add(StreamName name, Unordered what) {
  Known known = before_next(name);
  Stream& its = stream(name);
  known.learn(name.number, ++its.operations);
  its.known = std::move(known);
  its.under_way.push_back(std::move(what));
  return {{name.number, its.operations}};
}

void Timeline::note_that_last_overtakes(StreamName name) {
  if (!stream(name).under_way.empty()) stream(name).under_way.back().overtakes = true;
}

void Timeline::wait(StreamName name, const Known& known) { stream(name).known.learn(known); }

void Timeline::wait_on_host(const Known& known) {
  host_.learn(known);
  for (auto& [number, one] : streams_) {
    const std::uint64_t over = host_.of(number);
    while (!one.under_way.empty() && one.operations - one.under_way.size() < over)
      one.under_way.pop_front();
  }
}

Known Timeline::of_all() const {
  Known all = host_;
  for (const auto& [_, one] : streams_) all.learn(one.known);
  return all;
}

bool Timeline::host_knows(const Known& known) const { return host_.covers(known); }

void Timeline::tell_host(const Known& known) { told_.learn(known); }
bool Timeline::host_may_know(const Known& known) const {
  Known all = host_;
  all.learn(told_);
  return all.covers(known);
}

std::vector<Unordered> Timeline::left_over() const {
  Known known;
  for (const StreamName& name : of_caller_) known.learn(before_next(name));
  return unknown_to(known);
}

}  // namespace ptx::runtime
