// Runs a launch: blocks in flight, and whose turn it is.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/scramble.h"
#include "ptx/machine/access.h"
#include "ptx/machine/between/grid_order.h"
#include "ptx/machine/report/stuck.h"
#include "ptx/machine/system/specials.h"
#include "ptx/machine/taint.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

Run::Run(const Launch& l, Memory& m, const Settings& s)
    : launch(l),
      kernel(*l.kernel),
      memory(m.contents()),
      settings(s),
      random(assay::scramble(s.seed)) {
  region_of.assign(kernel.code.size(), nullptr);
  shape_of.assign(kernel.code.size(), nullptr);
  target_of.assign(kernel.code.size(), nullptr);
  memory.shapes.make_room();
  if (s.counts) counter = std::make_unique<Counter>(kernel);
  if (s.most_watched != 0) watch = std::make_unique<Watch>(kernel, s.most_watched);
  shared_bytes =
      static_cast<uint32_t>((kernel.facts.static_shared + l.dynamic_shared + 15) / 16 * 16);
  shared_part.assign(kernel.code.size(), {0, shared_bytes});
  for (std::size_t n = 0; n < shared_part.size(); ++n) {
    if (kernel.array_of[n] < 0) continue;
    const SharedVariable& v = kernel.shared_variables[static_cast<std::size_t>(kernel.array_of[n])];
    shared_part[n].first = static_cast<uint32_t>(v.at);
    if (v.bytes != 0) shared_part[n].end = static_cast<uint32_t>(v.at + v.bytes);
  }
}
uint64_t Run::draw() { return random = assay::scramble(random); }

namespace {

constexpr uint32_t poison = 0x7f85eedd;
// Operations of a warp that nothing interrupts; the latter where each may touch memory for the
// first time.
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
      : run_(launch, memory, settings), grid_(launch.grid.count()), blocks_(launch, settings) {
    if (launch.cooperative) wanted_ = grid_;
    const std::uint64_t bytes_of_block =
        run_.shared_bytes * std::uint64_t{5} +
        (launch.block.count() + warp_size) *
            (static_cast<uint64_t>(run_.kernel.slots + 1) * 4 + run_.kernel.facts.local);
    room_ = std::min<uint64_t>(launch.fit_on_device, most_bytes_of_blocks / bytes_of_block + 2);
  }

  Outcome to_end() {
    const Numbers numbers = run_.memory.begin(grid_, run_.launch.past);
    const double limit = run_.settings.cpu_seconds +
                         run_.settings.cpu_seconds_per_thread *
                             static_cast<double>(blocks_.count() * run_.launch.block.count());
    const double start = cpu_seconds();
    while (!run_.failed() && (started_ < blocks_.count() || !in_flight_.empty())) {
      admit();
      take_turns();
      const bool looks_at_clock = ++rounds_ % 64 == 0 || run_.settings.most_blocks != 0;
      if (looks_at_clock && cpu_seconds() - start > limit) report_endless(in_flight_, limit);
      if (run_.unset && ++rounds_of_unset_ > most_rounds_of_unset) break;
      const bool are_over = started_ == blocks_.count() && in_flight_.empty() && !run_.failed();
      if (are_over && may_go_on((cpu_seconds() - start) / limit)) blocks_.go_on();
    }
    if (!run_.failed()) run_.finding = run_.unset;
    return {.finding = run_.finding,
            .crowd = crowd(),
            .waited_for_grids = waited_for_grids_,
            .extra_time = run_.extra_time,
            .is_part = blocks_.count() < grid_,
            .most_stored = run_.stored + (grid_ - blocks_.count()) * run_.most_stored,
            .meets_others = run_.meets_others || run_.launch.cooperative,
            .numbers = numbers,
            .printed = std::move(run_.printed),
            .counts = counts(),
            .watched = watched()};
  }

 private:
  // Whether the few blocks that were chosen took so little of the time that there is enough for
  // all: a share of a block may be empty where a count gave out.
  bool may_go_on(double share_of_time) const {
    constexpr std::uint64_t most = 1 << 16;  // blocks
    if (run_.settings.threads_run_whole == 0 || grid_ > most || blocks_.count() == grid_)
      return false;
    const double more = static_cast<double>(grid_) / static_cast<double>(blocks_.count());
    return share_of_time * more < 0.5;
  }

  void admit() {
    const bool shuffled = run_.settings.order == Order::shuffled;
    const std::size_t wanted =
        std::max<std::size_t>(shuffled ? 1 + run_.settings.seed % most_in_flight : 1, wanted_);
    together_ = std::max(
        together_, std::min<uint64_t>(wanted, in_flight_.size() + blocks_.count() - started_));
    while (in_flight_.size() < wanted && started_ < blocks_.count()) {
      if (idle_.empty()) idle_.push_back(make_block());
      std::unique_ptr<Block> block = std::move(idle_.back());
      idle_.pop_back();
      start(*block, blocks_.number(started_++));
      in_flight_.push_back(std::move(block));
    }
  }

  std::unique_ptr<Block> make_block() {
    auto block = std::make_unique<Block>();
    const Program::Kernel& kernel = run_.kernel;
    block->run = &run_;
    block->thread_count = static_cast<int>(run_.launch.block.count());
    const int warps = (block->thread_count + warp_size - 1) / warp_size;
    block->warps.resize(static_cast<std::size_t>(warps));
    const std::size_t slot_words = static_cast<std::size_t>(kernel.slots + 1) * warp_size;
    block->slots.assign(slot_words * static_cast<std::size_t>(warps) + 16, poison);
    block->predicates.assign(static_cast<std::size_t>(kernel.predicates * warps), 0);
    block->shared.resize(run_.shared_bytes + 16);
    block->local_bytes = kernel.facts.local;
    block->local.resize(kernel.facts.local * static_cast<std::size_t>(warps) * warp_size);
    block->local_is_written.resize(block->local.size() / 4 + 1);
    auto* slots = block->slots.data();
    while (reinterpret_cast<uint64_t>(slots) % 64 != 0) ++slots;
    for (int i = 0; i < warps; ++i) {
      Warp& w = block->warps[static_cast<std::size_t>(i)];
      w.slots = slots + slot_words * static_cast<std::size_t>(i);
      w.predicates = block->predicates.data() + kernel.predicates * i;
      w.code = run_.code();
      w.lists = kernel.lists.data();
      w.block = block.get();
      w.index = i;
      w.taint.assign(static_cast<std::size_t>(kernel.slots + 1), 0);
      w.predicate_taint.assign(static_cast<std::size_t>(kernel.predicates), 0);
      fill_constants(w);
      fill_specials(w, false);
    }
    return block;
  }

  static void fill(Warp& w, int slot, bool is_wide, uint64_t bits) {
    for (int lane = 0; lane < warp_size; ++lane) {
      if (is_wide)
        w.slot<uint64_t>(slot)[lane] = bits;
      else
        w.slot<uint32_t>(slot)[lane] = static_cast<uint32_t>(bits);
    }
  }
  void fill_constants(Warp& w) {
    for (const Constant& c : run_.kernel.constants) fill(w, c.slot, c.is_wide, c.bits);
    for (const ParamSlot& p : run_.kernel.param_slots) {
      uint64_t bits = 0;
      if (p.at + static_cast<std::size_t>(p.bytes) <= run_.launch.params.size())
        std::memcpy(&bits, run_.launch.params.data() + p.at, static_cast<std::size_t>(p.bytes));
      if (p.is_signed && p.bytes < 8) {
        const int shift = 64 - 8 * p.bytes;
        bits = static_cast<uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
      }
      fill(w, p.slot, p.is_wide, bits);
    }
  }

  void start(Block& block, uint64_t number) {
    const Dim& grid = run_.launch.grid;
    block.number = run_.memory.others + static_cast<uint32_t>(number);
    block.at = {static_cast<unsigned>(number % grid.x),
                static_cast<unsigned>(number / grid.x % grid.y),
                static_cast<unsigned>(number / grid.x / grid.y)};
    block.exited = 0;
    block.stored = 0;
    block.waits_for_grids.clear();
    std::fill(std::begin(block.barriers), std::end(block.barriers), Block::Barrier{});
    block.knows.clear();
    block.hearsay.clear();
    block.released.clear();
    block.unwritten_from.clear();
    block.copies.assign(block.warps.size(), {});
    block.asynchronous = {};
    block.held.clear();
    auto* words = reinterpret_cast<uint32_t*>(block.shared.data());
    std::fill(words, words + run_.shared_bytes / 4, poison);
    block.shadow.start(run_.shared_bytes / 4);
    auto* own_words = reinterpret_cast<uint32_t*>(block.local.data());
    std::fill(own_words, own_words + block.local.size() / 4, poison);
    std::fill(block.local_is_written.begin(), block.local_is_written.end(), 0);
    for (Warp& w : block.warps) {
      const int left = block.thread_count - w.index * warp_size;
      w.alive = left >= warp_size ? all_lanes : (1u << left) - 1;
      w.others.clear();
      w.has_diverged = false;
      w.known.clear();
      w.asked = 0;
      w.set_mask(w.alive);
      w.at = w.code;
      w.since_barrier = w.since_sync = 1;
      fill_specials(w, true);
      if (w.has_taint) {
        std::fill(w.taint.begin(), w.taint.end(), 0);
        std::fill(w.predicate_taint.begin(), w.predicate_taint.end(), 0);
      }
      w.origins.clear();
      w.predicate_origins.clear();
      w.last_unwritten = {};
      w.has_taint = !run_.kernel.unset.empty();
      for (const int slot : run_.kernel.unset) w.taint[static_cast<std::size_t>(slot)] = all_lanes;
    }
  }

  // Those that each block has anew, which are the same for all its threads, or the others.
  static void fill_specials(Warp& w, bool of_block) {
    for (const SpecialSlot& s : w.block->run->kernel.specials) {
      if (s.special->is_of_block != of_block) continue;
      if (of_block) fill(w, s.slot, s.is_wide, s.special->value(w, 0, s.at));
      for (unsigned lane = 0; lane < warp_size && !of_block; ++lane) {
        const uint64_t bits = s.special->value(w, lane, s.at);
        if (s.is_wide)
          w.slot<uint64_t>(s.slot)[lane] = bits;
        else
          w.slot<uint32_t>(s.slot)[lane] = static_cast<uint32_t>(bits);
      }
    }
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
      const bool could_go_on = advance(*w, most);
      if (!could_go_on && !w->lets_go_first) {
        turns_in_vain_ = 0;
        continue;
      }
      // It may wait for something that others have to do.
      if (could_go_on ? !shuffled : w->lets_blocks_go_first) admit_one_more();
      turns_in_vain_ = w->lets_blocks_go_first ? turns_in_vain_ + 1 : 0;
      w->lets_go_first = w->lets_blocks_go_first = false;
      if (!shuffled) {
        last_ = run_.settings.order == Order::reverse
                    ? static_cast<int>(block.warps.size()) - w->index
                    : w->index + 1;
        break;
      }
    }
    if (run_.failed()) return;
    if (++since_end_ % patience == 0) admit_one_more();
    const bool is_all = started_ == blocks_.count();  // and others may have been left out
    const bool is_full = is_all ? started_ < grid_ : in_flight_.size() >= room_;
    if (is_full && turns_in_vain_ > rounds_in_vain * in_flight_.size())
      return report_no_room(block, in_flight_.size(), grid_);
    if (block.has_ended()) {
      since_end_ = 0, turns_in_vain_ = 0;
      waited_for_grids_ |= !block.waits_for_grids.empty();
      finish(block);
      idle_.push_back(std::move(in_flight_[which]));
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (choose(block) == nullptr && !give_up_waits(block)) {
      report_stuck(block);
    }
  }
  void admit_one_more() {
    const std::size_t more = std::max(wanted_, in_flight_.size()) + 1;
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
    int first = last_;
    if (run_.settings.order == Order::shuffled)
      first = static_cast<int>(run_.draw() % static_cast<unsigned>(count));
    for (int n = 0; n < count; ++n) {
      int i = (first + n) % count;
      if (run_.settings.order == Order::reverse) i = count - 1 - i;
      if (can_run(block.warps[static_cast<std::size_t>(i)]))
        return &block.warps[static_cast<std::size_t>(i)];
    }
    return nullptr;
  }

  // Runs at most `most` operations of a warp. Returns whether it could still go on.
  bool advance(Warp& w, uint64_t most) {
    const Op* op = w.at != nullptr ? w.at : next_group(w);
    while (op != nullptr && most-- > 0) {
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
    watched.threads = started_ * run_.launch.block.count();
    return watched;
  }

  Run run_;
  uint64_t grid_ = 0, started_ = 0, rounds_ = 0;
  GridOrder blocks_;
  std::size_t wanted_ = 1;
  // Until somebody looks at the clock.
  const uint64_t turn_ = run_.settings.most_blocks == 0 ? whole_turn : short_turn;
  const int turns_ = run_.settings.most_blocks == 0 ? 1 << 12 : 1 << 6;
  uint64_t room_ = 1, together_ = 1, turns_in_vain_ = 0;  // those in a row that ended with waits
  bool waited_for_grids_ = false;
  int since_end_ = 0;  // turns, since a block last ended
  int rounds_of_unset_ = 0;
  int last_ = 0;
  std::vector<std::unique_ptr<Block>> in_flight_, idle_;
};

}  // namespace

Outcome run(const Launch& launch, Memory& memory, const Settings& settings) {
  if (!launch.kernel->unsupported.empty())
    return {.finding = Finding{Fault::unsupported, fmt::format("{}: {}", launch.kernel->facts.name,
                                                               launch.kernel->unsupported)}};
  if (launch.grid.count() == 0 || launch.block.count() == 0) return {};
  Launch whole = launch;
  const auto params = reinterpret_cast<uint64_t>(whole.params.data());
  memory.lend({.name = "the parameters",
               .first = params,
               .row_bytes = launch.params.size(),
               .pitch_bytes = launch.params.size(),
               .writable = false});
  alignas(16) std::uint32_t grid_barrier[4] = {};
  if (launch.cooperative) {
    whole.grid_barrier = reinterpret_cast<uint64_t>(grid_barrier);
    memory.lend({.name = "the barrier of the grid",
                 .first = whole.grid_barrier,
                 .row_bytes = sizeof grid_barrier,
                 .pitch_bytes = sizeof grid_barrier});
  }
  Outcome outcome = Running(whole, memory, settings).to_end();
  memory.forget(params);
  if (launch.cooperative) memory.forget(whole.grid_barrier);
  return outcome;
}

}  // namespace ptx
