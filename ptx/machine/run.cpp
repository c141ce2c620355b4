// Runs a launch: blocks in flight, and whose turn it is.
#include <time.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/between/grid_order.h"
#include "ptx/machine/report/stuck.h"
#include "ptx/machine/system/blocks.h"
#include "ptx/machine/taint.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

namespace {

// Operations of a warp that nothing interrupts; the latter where memory may be touched first.
constexpr uint64_t whole_turn = 1 << 18, short_turn = 1 << 12;
constexpr int most_in_flight = 4;                                   // blocks, in shuffled order
constexpr std::size_t most_bytes_of_blocks = std::size_t{1} << 29;  // in flight
constexpr std::uint64_t rounds_in_vain = 16;  // of all blocks in flight, until none finds room
constexpr int patience = 512;                 // turns that end no block, until another one joins
constexpr int most_rounds_of_unset = 256;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class Running {
 public:
  Running(const Launch& launch, Memory& memory, const Settings& settings)
      : run_(launch, memory, settings),
        grid_(launch.grid.count()),
        together_with_(launch.cluster.count()),
        clusters_(launch, settings) {
    if (launch.cooperative) wanted_ = grid_;
    const std::uint64_t bytes_of_block =
        run_.shared_bytes * std::uint64_t{5} +
        (launch.block.count() + warp_size) *
            (static_cast<uint64_t>(run_.kernel.slots + 1) * 4 + run_.kernel.facts.local);
    const uint64_t fit =
        std::min<uint64_t>(launch.fit_on_device, most_bytes_of_blocks / bytes_of_block + 2);
    room_ = std::max<uint64_t>(1, fit / together_with_) * together_with_;
  }

  bool is_over() const {
    const bool has_given_up = run_.failed() || rounds_of_unset_ > most_rounds_of_unset;
    return has_given_up || (all_started() && in_flight_.empty());
  }
  const Numbers& numbers() const { return run_.numbering.own; }
  void meet(const Unordered* other) { run_.meet(other); }

  // Runs at most `most` rounds.
  void go_on(std::uint64_t most) {
    const double limit =
        run_.settings.cpu_seconds + run_.settings.cpu_seconds_per_thread *
                                        static_cast<double>(blocks() * run_.launch.block.count());
    const double start = cpu_seconds() - spent_;
    for (; most > 0 && !is_over(); --most) {
      admit();
      take_turns();
      const bool looks_at_clock = ++rounds_ % 64 == 0 || run_.settings.most_blocks != 0;
      if (looks_at_clock) end_if_over(cpu_seconds() - start, limit);
      if (run_.unset) ++rounds_of_unset_;
      const bool are_over = all_started() && in_flight_.empty() && !run_.failed();
      if (are_over && may_go_on((cpu_seconds() - start) / limit)) clusters_.go_on();
    }
    spent_ = cpu_seconds() - start;
  }

  Outcome end() {
    for (auto* const blocks : {&idle_, &in_flight_, &ended_})
      for (std::unique_ptr<Block>& block : *blocks) keep_for_later(std::move(block));
    if (!run_.failed()) run_.finding = run_.unset;
    run_.memory.heap_at_end(run_, run_.failed() || run_.watch != nullptr);
    run_.memory.keep_told(std::move(run_.told));
    return {.finding = run_.finding,
            .crowd = crowd(),
            .waited_for_grids = waited_for_grids_,
            .extra_time = run_.extra_time,
            .is_part = blocks() < grid_,
            .most_stored = run_.stored + (grid_ - blocks()) * run_.most_stored,
            .meets_others = run_.meets_others || run_.launch.cooperative,
            .printed = std::move(run_.printed),
            .seen_late = run_.late_stores.last_seen(),
            .heap_used_up = std::move(run_.of_heap.used_up),
            .counts = counts(),
            .watched = watched()};
  }

 private:
  void end_if_over(double spent, double limit) {
    constexpr double late = 0.6;  // of its time
    if (spent > late * limit && !stored_early_) stored_early_ = stored();
    if (spent <= limit) return;
    report_endless(in_flight_, limit);
    if (run_.failed() && stored() > *stored_early_) run_.finding->stored_late = stored();
  }
  std::uint64_t stored() const {  // words of results
    return std::accumulate(
        in_flight_.begin(), in_flight_.end(), run_.stored,
        [](std::uint64_t sum, const auto& block) { return sum + block->stored; });
  }

  // Whether the few blocks that were chosen took so little of the time that there is enough for
  // all: a share of a block may be empty where a count gave out.
  bool may_go_on(double share_of_time) const {
    constexpr std::uint64_t most = 1 << 16;  // blocks
    if (run_.settings.threads_run_whole == 0 || grid_ > most || blocks() == grid_) return false;
    const double more = static_cast<double>(grid_) / static_cast<double>(blocks());
    return share_of_time * more < 0.5;
  }

  void admit() {
    const bool shuffled = run_.settings.order == Order::shuffled;
    const std::size_t wanted =
        std::max<std::size_t>(shuffled ? 1 + run_.settings.seed % most_in_flight : 1, wanted_);
    const uint64_t left = blocks() - started_ * together_with_;
    together_ = std::max(together_, std::min<uint64_t>(wanted, places_taken() + left));
    while (places_taken() < wanted && !all_started()) start_next();
  }

  // The blocks of a cluster, or one that is in none.
  void start_next() {
    const uint64_t cluster = clusters_.number(started_++);
    std::vector<Block*> all;
    for (uint64_t rank = 0; rank < together_with_; ++rank) {
      if (idle_.empty()) idle_.push_back(make_block(run_));
      start(*idle_.back(), place_in_grid(run_.launch, cluster, rank));
      all.push_back(idle_.back().get());
      in_flight_.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
    if (together_with_ > 1 || run_.kernel.meets_in_clusters) {
      started_clusters_.push_back(std::make_unique<Cluster>());
      make_cluster(*started_clusters_.back(), all);
    }
    for (Block* block : all) fill_specials_of(*block);
    if (run_.settings.order == Order::reverse)
      std::reverse(in_flight_.end() - static_cast<std::ptrdiff_t>(together_with_),
                   in_flight_.end());
  }

  // One warp of one block goes on for a while.
  void take_turns() {
    const bool shuffled = run_.settings.order == Order::shuffled;
    const std::size_t which =
        shuffled ? run_.draw() % in_flight_.size() : rounds_ % in_flight_.size();
    Block& block = *in_flight_[which];
    for (int turns = shuffled ? 16 : turns_; turns > 0 && !run_.failed(); --turns) {
      Warp* w = choose(block);
      if (w == nullptr) break;
      const uint64_t most = shuffled ? uint64_t{1} << (run_.draw() % 11) : turn_;
      const uint64_t changes = run_.changes;
      const bool could_go_on = advance(*w, most);
      if (!could_go_on && !w->lets_go_first) {
        run_.memory.turns_in_vain = 0;
        continue;
      }
      // It may wait for something that others have to do.
      if (could_go_on ? !shuffled : w->lets_blocks_go_first) admit_one_more();
      const bool is_in_vain = w->lets_blocks_go_first && run_.changes == changes;
      run_.memory.turns_in_vain = is_in_vain ? run_.memory.turns_in_vain + 1 : 0;
      w->lets_go_first = w->lets_blocks_go_first = false;
      if (!shuffled) {
        block.next = run_.settings.order == Order::reverse
                         ? static_cast<int>(block.warps.size()) - w->index
                         : w->index + 1;
        break;
      }
    }
    if (run_.failed()) return;
    if (std::exchange(run_.met_in_cluster, false)) since_end_ = 0, run_.memory.turns_in_vain = 0;
    if (++since_end_ % patience == 0) admit_one_more();
    const bool is_all = all_started();  // and others may have been left out
    const bool is_full = is_all ? blocks() < grid_ : places_taken() >= room_;
    if (is_full && run_.memory.turns_in_vain > rounds_in_vain * in_flight_.size())
      return report_no_room(block, in_flight_.size(), grid_);
    if (block.has_ended()) {
      since_end_ = 0, run_.memory.turns_in_vain = 0;
      waited_for_grids_ |= !block.waits_for_grids.empty();
      finish(block);
      end(which);
    } else if (choose(block) == nullptr && is_stuck(block)) {
      report_stuck(block);
    }
  }
  // Its shared memory stays until its cluster has ended.
  void end(std::size_t which) {
    const Cluster* const cluster = in_flight_[which]->in_cluster.all;
    ended_.push_back(std::move(in_flight_[which]));
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(which));
    if (cluster != nullptr && cluster->alive != 0) return;
    std::erase_if(ended_, [&](std::unique_ptr<Block>& block) {
      if (block->in_cluster.all != cluster) return false;
      block->in_cluster.all = nullptr;
      idle_.push_back(std::move(block));
      return true;
    });
    std::erase_if(started_clusters_, [&](const auto& one) { return one.get() == cluster; });
  }
  bool is_stuck(Block& block) {
    Cluster* const cluster = block.in_cluster.all;
    if (cluster == nullptr) return !give_up_waits(block);
    if (cluster_can_run(block)) return false;
    bool any = false;
    for (Block* one : cluster->blocks) any |= give_up_waits(*one);
    return !any;
  }
  void admit_one_more() {
    const std::size_t more = std::max(wanted_, places_taken()) + 1;
    wanted_ = std::max(wanted_, std::min<std::size_t>(more, room_));
  }
  void finish(Block& block) {
    run_.stored += block.stored;
    run_.most_stored = std::max(run_.most_stored, block.stored);
    finish_bulk_copies(block);
    for (Warp& w : block.warps) {
      Block::Copies& left = block.copies[static_cast<std::size_t>(w.index)];
      if (left.pending.empty()) continue;
      w.set_mask(all_lanes);
      left.groups.fill(1 << 30);
      finish_copies(w, 0);
    }
  }

  Warp* choose(Block& block) {
    const int count = static_cast<int>(block.warps.size());
    int first = block.next;
    if (run_.settings.order == Order::shuffled)
      first = static_cast<int>(run_.draw() % static_cast<unsigned>(count));
    for (int n = 0; n < count; ++n) {
      int i = first + n < count ? first + n : (first + n) % count;
      if (run_.settings.order == Order::reverse) i = count - 1 - i;
      if (can_run(block.warps[static_cast<std::size_t>(i)]))
        return &block.warps[static_cast<std::size_t>(i)];
    }
    return nullptr;
  }

  // Runs at most `most` operations of a warp. Returns whether it could still go on.
  bool advance(Warp& w, uint64_t most) {
    const Op* op = w.at != nullptr ? w.at : next_group(w);
    for (w.left = most; op != nullptr && w.left > 0;) {
      --w.left;
      if (w.has_taint && !follow_taint(op, w)) break;
      op = op->run(op, w);
    }
    w.at = run_.failed() ? nullptr : op;
    return w.at != nullptr;
  }

  // Who comes before an earlier one in another order may wait for one that comes first.
  std::optional<Crowd> crowd() const {
    const bool counts = run_.settings.order == Order::forward && !run_.launch.cooperative;
    if (!counts || together_ < 2) return std::nullopt;
    return Crowd{together_, run_.launch.fit_on_device};
  }

  std::optional<LaunchCounts> counts() const {
    if (run_.counter == nullptr || run_.failed()) return std::nullopt;
    LaunchCounts counts = run_.counter->result();
    counts.kernel = run_.kernel.facts.name;
    counts.blocks = grid_, counts.threads_per_block = run_.launch.block.count();
    return counts;
  }

  std::optional<Watched> watched() const {
    if (run_.watch == nullptr) return std::nullopt;
    Watched watched = run_.watch->result();
    watched.threads = started_ * together_with_ * run_.launch.block.count();
    return watched;
  }

  uint64_t blocks() const { return clusters_.count() * together_with_; }
  bool all_started() const { return started_ == clusters_.count(); }
  std::size_t places_taken() const { return in_flight_.size() + ended_.size(); }

  Run run_;
  uint64_t grid_ = 0, started_ = 0, rounds_ = 0;
  double spent_ = 0;                           // seconds
  std::optional<std::uint64_t> stored_early_;  // words of results, before the last of its time
  uint64_t together_with_ = 1;                 // the blocks of a cluster, itself included
  GridOrder clusters_;
  std::size_t wanted_ = 1;
  // Until somebody looks at the clock.
  const uint64_t turn_ = run_.settings.most_blocks == 0 ? whole_turn : short_turn;
  const int turns_ = run_.settings.most_blocks == 0 ? 1 << 12 : 1 << 6;
  uint64_t room_ = 1, together_ = 1;
  bool waited_for_grids_ = false;
  int since_end_ = 0, rounds_of_unset_ = 0;  // turns, since a block last ended; rounds
  std::vector<std::unique_ptr<Block>> in_flight_, idle_;
  std::vector<std::unique_ptr<Block>> ended_;  // while others of their clusters have not
  std::vector<std::unique_ptr<Cluster>> started_clusters_;
};

std::optional<Finding> why_refused(const Launch& l) {
  const Program::Kernel& kernel = *l.kernel;
  if (!kernel.unsupported.empty())
    return Finding{Fault::unsupported, kernel.facts.name + ": " + kernel.unsupported};
  if (has_whole_clusters(l)) return std::nullopt;
  return Finding{Fault::launch_refused, "the grid has no whole number of clusters"};
}

}  // namespace

struct LaunchUnderWay::Contents {
  Contents(Launch&& l, Memory& m, const Settings& s)
      : launch(std::move(l)), memory(m), settings(s) {
    if (launch.kernel->facts.cluster.count() != 0) launch.cluster = launch.kernel->facts.cluster;
    refusal = why_refused(launch);
    if (refusal || launch.grid.count() == 0 || launch.block.count() == 0) return;
    lend();
    running.emplace(launch, memory, settings);
  }
  ~Contents() {
    running.reset();
    for (const uint64_t first : lent) memory.forget(first);
  }
  void lend() {
    const auto lend = [&](const char* name, const void* first, std::size_t bytes, bool writable) {
      lent.push_back(reinterpret_cast<uint64_t>(first));
      memory.lend({.name = name,
                   .first = lent.back(),
                   .row_bytes = bytes,
                   .pitch_bytes = bytes,
                   .writable = writable});
    };
    lend("the parameters", launch.params.data(), launch.params.size(), false);
    if (!launch.cooperative) return;
    launch.grid_barrier = reinterpret_cast<uint64_t>(grid_barrier);
    lend("the barrier of the grid", grid_barrier, sizeof grid_barrier, true);
  }

  Launch launch;
  Memory& memory;
  const Settings settings;
  std::deque<Unordered> met;
  std::vector<uint64_t> lent;
  alignas(16) uint32_t grid_barrier[4] = {};
  std::optional<Finding> refusal;
  std::optional<Running> running;  // none where there is nothing to run
};

LaunchUnderWay::LaunchUnderWay(Launch launch, Memory& memory, const Settings& settings)
    : contents_(std::make_unique<Contents>(std::move(launch), memory, settings)) {}
LaunchUnderWay::LaunchUnderWay(LaunchUnderWay&&) noexcept = default;
LaunchUnderWay& LaunchUnderWay::operator=(LaunchUnderWay&&) noexcept = default;
LaunchUnderWay::~LaunchUnderWay() = default;

Numbers LaunchUnderWay::numbers() const {
  return contents_->running ? contents_->running->numbers() : Numbers{};
}
bool LaunchUnderWay::is_over() const {
  return !contents_->running || contents_->running->is_over();
}
void LaunchUnderWay::go_on(std::uint64_t most) {
  if (contents_->running) contents_->running->go_on(most);
}
void LaunchUnderWay::meet(const Unordered& other) {
  contents_->met.push_back(other);
  if (contents_->running) contents_->running->meet(&contents_->met.back());
}
Outcome LaunchUnderWay::end() {
  return contents_->running ? contents_->running->end() : Outcome{.finding = contents_->refusal};
}

Outcome run(const Launch& launch, Memory& memory, const Settings& settings) {
  LaunchUnderWay one(launch, memory, settings);
  one.go_on(~uint64_t{0});
  return one.end();
}

}  // namespace ptx
