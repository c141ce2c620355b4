// wgmma.fence, commit_group and wait_group, and what a warpgroup has under way.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/warpgroup/warpgroup.h"

namespace ptx {
namespace {

using std::uint32_t;

// Of the products up to one, the first that some warp has not begun; null if there is none.
const Warpgroup::Product* begun_by_some(const Warpgroup& group, uint32_t last) {
  const auto count =
      std::min<std::size_t>(last - std::min(last, group.complete), group.under_way.size());
  for (std::size_t n = 0; n < count; ++n)
    if (group.under_way[n].warps != (1u << warps_of_group) - 1) return &group.under_way[n];
  return nullptr;
}

// What they read is anybody's from now on who comes after this warp, or after one that waits later.
void complete(Warp& w, Warpgroup& group, uint32_t last) {
  SharedShadow& shadow = w.block->shadow;
  if (group.complete >= last) return;
  for (; group.complete < last; ++group.complete) {
    for (const uint32_t first : group.under_way.front().words)
      shadow.let_go_of_product(first, static_cast<std::size_t>(w.index / warps_of_group));
    group.under_way.pop_front();
  }
  shadow.tick();
  group.complete_at = shadow.now();
}

const Op* fence_registers(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  ++part_of(w).fences;
  return op + 1;
}

const Op* commit_products(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  Warpgroup::OfWarp& own = part_of(w);
  own.groups.push_back(own.begun);
  return op + 1;
}

// bits: how many groups may stay.
const Op* wait_for_products(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  Warpgroup& group = warpgroup_of(w);
  Warpgroup::OfWarp& own = part_of(w);
  if (own.groups.size() <= op->bits) return op + 1;
  const auto over = static_cast<std::ptrdiff_t>(own.groups.size() - op->bits);
  const uint32_t last = own.groups[static_cast<std::size_t>(over) - 1];
  if (begun_by_some(group, last) != nullptr) {
    w.others.push_back({.at = op, .mask = w.mask, .state = Group::State::at_warpgroup});
    w.set_mask(0);
    return next_group(w);
  }
  complete(w, group, last);
  own.groups.erase(own.groups.begin(), own.groups.begin() + over);
  own.done = std::max(own.done, last);
  w.known.resize(stamp::knowers, 0);
  uint32_t& known = w.known[stamp::products + static_cast<uint32_t>(w.index / warps_of_group)];
  known = std::max(known, group.complete_at);
  return op + 1;
}

}  // namespace

void start_warpgroups(Block& block) {
  const Program::Kernel& kernel = block.run->kernel;
  block.warpgroups.clear();
  if (!kernel.has_warpgroups) return;
  block.warpgroups.resize((block.warps.size() + warps_of_group - 1) / warps_of_group);
  for (Warpgroup& group : block.warpgroups)
    for (Warpgroup::OfWarp& part : group.of_warp)
      part.registers.resize(static_cast<std::size_t>(kernel.product_registers));
}

Warpgroup& warpgroup_of(const Warp& w) {
  return w.block->warpgroups[static_cast<std::size_t>(w.index / warps_of_group)];
}
Warpgroup::OfWarp& part_of(const Warp& w) {
  return warpgroup_of(w).of_warp[w.index % warps_of_group];
}

bool report_lone_warps(Block& block) {
  for (Warp& w : block.warps)
    for (const Group& g : w.others) {
      if (g.state != Group::State::at_warpgroup) continue;
      const Warpgroup::OfWarp& own = part_of(w);
      const uint32_t last = own.groups[own.groups.size() - g.at->bits - 1];
      const Warpgroup::Product* const product = begun_by_some(warpgroup_of(w), last);
      if (product == nullptr) continue;
      report(
          w, g.at, Fault::barrier_not_reached,
          fmt::format("{} waits for a wgmma ({}) that all four warps of a warpgroup have to "
                      "execute, and warp {} of its four never does",
                      thread_text(w, std::countr_zero(g.mask)),
                      place_of(block.run->kernel, *product->op), std::countr_one(product->warps)),
          {.sites = {site(w, "waits", g.at), site(w, "began", product->op)}});
      return true;
    }
  return false;
}

void add_warpgroup_handlers(Handlers& to) {
  to["wgmma.fence"] = {fence_registers, ""};
  to["wgmma.commit"] = {commit_products, ""};
  to["wgmma.wait"] = {wait_for_products, ""};
}

}  // namespace ptx
