#include "ptx/machine/between/host_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "ptx/decode/code.h"
#include "ptx/machine/memory.h"
#include "ptx/machine/report/report.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

const Unordered* holder(const std::vector<Unordered>& all, uint32_t number) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Unordered& one) { return one.numbers.hold(number); });
  return found == all.end() ? nullptr : &*found;
}

struct Touch {
  const Unordered* by = nullptr;
  bool wrote = false;
  uint32_t op = 0;
};
// The last access to a word, if one of these made it.
Touch touch_of(Region& region, std::size_t word, const std::vector<Unordered>& all,
               bool reads_too) {
  if (region.traces.size() == 0) return {};
  const auto touch = [&](const Trace& t) {
    const auto by = [&](uint64_t stamp, uint32_t op, bool wrote) {
      return Touch{stamp == 0 ? nullptr : holder(all, static_cast<uint32_t>(stamp >> 32)), wrote,
                   op};
    };
    const Touch written = by(t.write, t.write_op, true);
    return written.by != nullptr || !reads_too ? written : by(t.read, t.read_op, false);
  };
  const Trace whole = region.traces.get(word, 0, region.traced_after);
  if (!whole.is_in_parts) return touch(whole);
  for (const Trace& part : region.parts[word])
    if (const Touch its = touch(part); its.by != nullptr) return its;
  return {};
}

// That may have been touched. Their traces can have room for more, which belongs to no word.
std::size_t words_of(const Region& region) {
  return region.traces.size() == 0 ? 0 : (region.end - region.area.first + 3) / 4;
}

Finding finding(const HostAccess& access, const Region& region, uint64_t address,
                const Touch& other) {
  const Program::Kernel* const kernel = other.by->kernel;
  const char* const did = other.wrote ? other.by->access.did : "read";
  Finding found{Fault::unordered_work, "", address, access.writes, {}};
  std::string where;
  if (kernel != nullptr) {
    const Op& op = kernel->code[other.op];
    found.sites = {{did, lines_of(*kernel, op)}};
    where = fmt::format(" ({})", place_of(*kernel, op));
  }
  found.text = fmt::format(
      "{} {} {}, which {} {}{}, and nothing orders the two: they are in different streams",
      access.name, access.does, place_in(region, address), other.by->name, did, where);
  return found;
}

std::optional<Finding> find(Memory::Contents& contents, const HostAccess& access,
                            const Past& past) {
  const auto first = reinterpret_cast<uint64_t>(access.first);
  Region* const region = contents.at(first);
  if (region == nullptr) return std::nullopt;
  if (region->area.is_of_caller && past.caller)
    return finding(access, *region, first, {&*past.caller, true, 0});
  for (std::size_t row = 0; !past.unordered.empty() && row < access.height; ++row) {
    const uint64_t begin = first + row * access.pitch;
    const std::size_t end = region->word(begin + access.width + 3);
    for (std::size_t word = region->word(begin); word < end; ++word) {
      const Touch other = touch_of(*region, word, past.unordered, access.writes);
      if (other.by != nullptr)
        return finding(access, *region, region->area.first + word * 4, other);
    }
  }
  return std::nullopt;
}

}  // namespace

Entered enter(Memory& memory, const HostAccess& access, const Past& past) {
  const Numbers numbers = memory.contents().begin(1, past).own;
  return {numbers, find(memory.contents(), access, past)};
}

std::optional<Finding> touched_of_caller(Memory& memory, const std::vector<Unordered>& all) {
  if (all.empty()) return std::nullopt;
  for (const Unordered& one : all) memory.contents().enter(one.access, one.numbers.first);
  const auto find = [&](Region& region, bool reads_too) -> std::optional<Finding> {
    const std::size_t words = region.area.is_of_caller ? words_of(region) : 0;
    for (std::size_t word = 0; word < words; ++word) {
      const Touch other = touch_of(region, word, all, reads_too);
      if (other.by == nullptr) continue;
      return finding({.name = "the caller, once its stream has finished,", .does = "uses"}, region,
                     region.area.first + word * 4, other);
    }
    return std::nullopt;
  };
  for (const bool reads_too : {false, true})  // what was written says more
    for (auto& [_, region] : memory.contents().regions)
      if (auto found = find(*region, reads_too)) return found;
  return std::nullopt;
}

bool wrote_atomically(Memory& memory, uint64_t first, const Numbers& numbers) {
  Region* const region = memory.contents().at(first);
  const std::size_t words = region == nullptr ? 0 : words_of(*region);
  for (std::size_t word = 0; word < words; ++word)
    if (numbers.hold(*region->traces.at(Traces::write_block, word)) &&
        (*region->traces.at(Traces::write_op, word) & Traces::atomic) != 0)
      return true;
  return false;
}

std::vector<Piece> read_plainly(Memory& memory, uint64_t first, const Numbers& numbers) {
  constexpr std::size_t most_words = 1 << 18;
  std::vector<Piece> pieces;
  Region* const region = memory.contents().at(first);
  const std::size_t words = region == nullptr ? 0 : std::min(most_words, words_of(*region));
  for (std::size_t word = 0; word < words; ++word) {
    const bool is_plain = (*region->traces.at(Traces::read_op, word) & Traces::atomic) == 0;
    if (!is_plain || !numbers.hold(*region->traces.at(Traces::read_block, word))) continue;
    const uint64_t at = first + 4 * word;
    if (pieces.empty() || pieces.back().first + pieces.back().bytes != at)
      pieces.push_back({at, 0});
    pieces.back().bytes += 4;
  }
  return pieces;
}

}  // namespace ptx
