#include "ptx/machine/report/report.h"

#include <fmt/format.h>

#include "ptx/machine/block.h"

namespace ptx {

std::string thread_text(const Warp& w, int lane) {
  const Block& block = *w.block;
  const Dim& size = block.run->launch.block;
  const unsigned n = static_cast<unsigned>(w.index * warp_size + lane);
  return fmt::format("thread ({},{},{}) of {}", n % size.x, n / size.x % size.y,
                     n / size.x / size.y, block_text(block));
}

std::string block_text(const Block& block) {
  return fmt::format("block ({},{},{})", block.at.x, block.at.y, block.at.z);
}

std::string place_in(const Region& region, std::uint64_t address) {
  const Area& area = region.area;
  const std::uint64_t at = address - area.first;
  if (area.element_bytes == 0) return fmt::format("byte {} of {}", at, area.name);
  return fmt::format("row {}, column {} of {}", at / area.pitch_bytes,
                     at % area.pitch_bytes / area.element_bytes, area.name);
}

std::string place_in_shared_memory(const Warp& w, std::uint64_t offset) {
  for (const SharedVariable& v : w.block->run->kernel.shared_variables) {
    if (offset >= v.at && (v.bytes == 0 || offset < v.at + v.bytes))
      return fmt::format("word {} of {}", (offset - v.at) / 4, v.name);
  }
  return fmt::format("word {} of shared memory", offset / 4);
}

std::string place_of_address(const Warp& w, std::uint64_t address) {
  const Block& block = *w.block;
  const std::uint64_t in_shared = address - reinterpret_cast<std::uint64_t>(block.shared.data());
  if (in_shared < block.run->shared_bytes) return place_in_shared_memory(w, in_shared);
  if (const InPeer peer = peer_of(block, address); peer.block != nullptr)
    return fmt::format("{} of {}", place_in_shared_memory(w, peer.at), block_text(*peer.block));
  const Region* region = block.run->memory.at(address);
  return region == nullptr ? "memory of nobody" : place_in(*region, address);
}

Site site(const Warp& w, std::string does, const Op* op) {
  return {std::move(does), lines_of(w.block->run->kernel, *op)};
}

void report(Warp& w, const Op* op, Fault fault, std::string text, Details details) {
  Run& run = *w.block->run;
  if (run.failed()) return;
  const std::string place = place_of(run.kernel, *op);
  if (text.find(place) == std::string::npos) text += " (" + place + ")";
  if (details.sites.empty()) details.sites.push_back(site(w, "there", op));
  const bool is_of_memory =
      fault == Fault::uninitialised && details.sites.size() > 1 && !run.settings.follows_part;
  Finding found{fault, std::move(text), details.address, details.is_write,
                std::move(details.sites)};
  if (is_of_memory) {
    if (!run.unset) run.unset = std::move(found);
  } else {
    run.finding = run.unset && fault != Fault::data_race ? run.unset : std::move(found);
  }
}

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::bad_address: return "bad address";
    case Fault::misaligned_access: return "misaligned access";
    case Fault::illegal_instruction: return "illegal instruction";
    case Fault::write_to_input: return "write to an input";
    case Fault::data_race: return "data race";
    case Fault::unordered_work: return "work without order";
    case Fault::forbidden_call: return "forbidden call";
    case Fault::changed_caller: return "changed setting of the caller's";
    case Fault::uninitialised: return "use of an uninitialised value";
    case Fault::barrier_not_reached: return "barrier not reached by all threads";
    case Fault::warp_not_reached: return "warp-wide operation not reached by all lanes";
    case Fault::never_ends: return "never ends";
    case Fault::trap: return "trap";
    case Fault::launch_refused: return "launch refused";
    case Fault::unsupported: return "not supported";
  }
  return "";
}

}  // namespace ptx
