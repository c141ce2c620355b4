// cp.async.bulk.tensor: boxes of a tensor that a map describes, between global and shared memory.
// What of a box lies outside of its tensor is read as zero, and not written; but hardware writes
// whole pieces of 16 bytes, so the last one of a row may reach beyond it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>

#include "ptx/machine/access.h"
#include "ptx/machine/async/bulk_copies.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/async/tensor_map.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint64_t piece = 16, alignment = 128;

// The box that one thread copies.
struct Box {
  TensorMap map;
  std::array<int64_t, TensorMap::most_dimensions> at = {};  // its first element
  uint64_t shared = 0, barrier = 0;

  uint64_t bytes() const {
    uint64_t all = map.element_bytes;
    for (int d = 0; d < map.dimensions; ++d) all *= map.box[static_cast<std::size_t>(d)];
    return all;
  }
  // Of a byte of the box, in order: the swizzle exchanges pieces within 128 bytes.
  uint64_t place(uint64_t byte) const {
    const uint64_t to = shared + byte;
    return to ^ ((to >> 7 & map.swizzle) << 4);
  }
};

// Of parameters, within them: where they begin is not the kernel's choice.
bool is_map_aligned(const Op* op, Warp& w, int lane, uint64_t address) {
  constexpr uint64_t unit = 64;
  const auto& params = w.block->run->launch.params;
  const uint64_t in_params = address - reinterpret_cast<uint64_t>(params.data());
  const uint64_t off = (in_params < params.size() ? in_params : address) % unit;
  if (off == 0) return true;
  report(w, op, Fault::misaligned_access,
         fmt::format("{} copies by a tensor map that lies {} bytes past a multiple of {}",
                     thread_text(w, lane), off, unit));
  return false;
}

// What lies in global memory a multiprocessor may have in a cache for tensor maps, as it was before
// somebody wrote there, in this launch or ahead of it: each block has to have fenced it. Of
// parameters and of constants it has not.
bool is_map_acquired(const Op* op, Warp& w, int lane, uint64_t address) {
  const Run& run = *w.block->run;
  const uint64_t in_params = address - reinterpret_cast<uint64_t>(run.launch.params.data());
  if (in_params < run.launch.params.size()) return true;
  const Region* const region = run.memory.at(address);
  const bool looks_for_races = run.watch == nullptr;
  if (region == nullptr || region->area.is_constant || !looks_for_races) return true;
  if (w.block->asynchronous.acquired_maps.contains(address)) return true;
  report(w, op, Fault::data_race,
         fmt::format("{} copies by a tensor map in global memory, {}, and no thread of its block "
                     "has executed fence.proxy.tensormap::generic.acquire for it: the map that is "
                     "used may be an older one",
                     thread_text(w, lane), place_in(*region, address)),
         {address});
  return false;
}

// a, bits: where the map lies.
const Op* acquire_map(const Op* op, Warp& w) {
  uint64_t maps[warp_size];
  addresses_of(op, w, maps);
  for (uint32_t left = w.mask; left != 0; left &= left - 1)
    w.block->asynchronous.acquired_maps.insert(maps[std::countr_zero(left)]);
  return op + 1;
}

bool read_map(const Op* op, Warp& w, int lane, uint64_t address, TensorMap& map) {
  if (!is_map_aligned(op, w, lane, address)) return false;
  std::array<std::byte, TensorMap::bytes> raw;
  uint32_t unwritten = 0;
  for (uint64_t n = 0; n < raw.size(); n += piece) {
    const std::byte* read = reach_global(
        w, {.op = op, .lane = lane, .address = address + n, .bytes = piece}, unwritten);
    if (read == nullptr) return false;
    std::memcpy(raw.data() + n, read, piece);
  }
  std::memcpy(&map, raw.data(), sizeof map);
  if (map.mark == TensorMap::our_mark) return is_map_acquired(op, w, lane, address);
  report(w, op, Fault::bad_address,
         fmt::format("{} copies by a tensor map that cuTensorMapEncodeTiled did not make",
                     thread_text(w, lane)));
  return false;
}

// Hardware calls an instruction illegal that copies a box which begins within 16 bytes of a row, or
// writes one that begins before its tensor.
bool may_begin_there(const Op* op, Warp& w, int lane, const Box& box, bool writes) {
  std::string fault;
  const int64_t byte = box.at[0] * box.map.element_bytes;
  const auto least = std::min_element(box.at.begin(), box.at.end());
  if (byte % static_cast<int64_t>(piece) != 0)
    fault =
        fmt::format("copies a box that begins at byte {} of a row, no multiple of {}", byte, piece);
  else if (writes && *least < 0)
    fault = fmt::format(
        "writes a box that begins at {} in dimension {}, before its tensor: such a "
        "box can only be read",
        *least, least - box.at.begin());
  if (fault.empty()) return true;
  report(w, op, Fault::illegal_instruction, thread_text(w, lane) + " " + fault);
  return false;
}

// a, bits: where the map lies; d, e: where the box lies in shared memory; c: a list of the
// barrier's slot, what is added to it, and the slots of where the box begins and of the blocks that
// it goes to, or -1.
bool read_box(const Op* op, Warp& w, int lane, uint64_t map, bool writes, Box& box) {
  const auto named = static_cast<Named>(op->parts);
  if (!read_map(op, w, lane, map, box.map)) return false;
  const int* list = w.lists + op->c;
  box.shared =
      place_in_shared(w, lane, op->d, (op->mode & 1) != 0, static_cast<uint64_t>(op->e), named);
  box.barrier =
      place_in_shared(w, lane, list[0], (op->mode & 2) != 0, static_cast<uint64_t>(list[1]), named);
  if (box.map.dimensions != op->b) {
    report(w, op, Fault::trap,
           fmt::format("{} names {} coordinates of a tensor of {} dimensions", thread_text(w, lane),
                       op->b, box.map.dimensions));
    return false;
  }
  for (int d = 0; d < op->b; ++d)
    box.at[static_cast<std::size_t>(d)] =
        static_cast<std::int32_t>(w.slot<uint32_t>(list[2 + d])[lane]);
  if (box.shared % alignment == 0) return may_begin_there(op, w, lane, box, writes);
  report(w, op, Fault::misaligned_access,
         fmt::format("{} copies a box of a tensor {} bytes past a multiple of {} in shared memory",
                     thread_text(w, lane), box.shared % alignment, alignment),
         {box.shared, true});
  return false;
}

// Calls use(byte of the box, address, bytes) for what of each row lies in the tensor. False once
// that returns false.
template <class Use>
bool for_each_row(const Box& box, const Use& use) {
  const TensorMap& map = box.map;
  const int64_t first = std::clamp<int64_t>(-box.at[0], 0, map.box[0]),
                end = std::clamp<int64_t>(int64_t{map.last[0]} + 1 - box.at[0], first, map.box[0]);
  const uint64_t row_bytes = uint64_t{map.box[0]} * map.element_bytes;
  for (uint64_t row = 0; row < box.bytes() / row_bytes; ++row) {
    uint64_t left = row, address = map.address;
    bool is_inside = true;
    for (std::size_t d = 1; d < map.dimensions; ++d) {
      const int64_t at = box.at[d] + static_cast<int64_t>(left % map.box[d]);
      left /= map.box[d];
      is_inside = is_inside && at >= 0 && at <= int64_t{map.last[d]};
      address += static_cast<uint64_t>(at) * map.strides[d - 1];
    }
    address += static_cast<uint64_t>(box.at[0] + first) * map.element_bytes;
    const uint64_t bytes = static_cast<uint64_t>(end - first) * map.element_bytes;
    if (is_inside && bytes != 0 &&
        !use(row * row_bytes + static_cast<uint64_t>(first) * map.element_bytes, address, bytes))
      return false;
  }
  return true;
}

// The largest access that begins there and is aligned, in both memories.
uint64_t next_bytes(uint64_t byte, uint64_t address, uint64_t left) {
  return uint64_t{1} << std::min({std::countr_zero(byte | piece), std::countr_zero(address | piece),
                                  static_cast<int>(std::bit_width(left)) - 1});
}

const Op* box_to_shared(const Op* op, Warp& w) {
  uint64_t maps[warp_size];
  addresses_of(op, w, maps);
  for (uint32_t todo = w.mask; todo != 0; todo &= todo - 1) {
    const int lane = std::countr_zero(todo);
    Box box;
    if (!read_box(op, w, lane, maps[lane], false, box)) return nullptr;
    BulkCopy copy{.data = std::vector<std::byte>(box.bytes()), .op = op};
    const int blocks = w.lists[op->c + 2 + op->b];
    const auto read_row = [&](uint64_t byte, uint64_t address, uint64_t bytes) {
      count_bulk(op, w, address, bytes);
      while (bytes != 0) {
        const uint64_t n = next_bytes(byte, address, bytes);
        const std::byte* read = reach_global(
            w, {.op = op, .lane = lane, .address = address, .bytes = static_cast<int>(n)},
            copy.unwritten_words);
        if (read == nullptr) return false;
        std::memcpy(copy.data.data() + (box.place(byte) - box.shared), read, n);
        byte += n, address += n, bytes -= n;
      }
      return true;
    };
    if (!for_each_row(box, read_row) ||
        !start_flights(op, w, lane, box.shared, box.barrier, blocks, std::move(copy)))
      return nullptr;
  }
  return op + 1;
}

// Nothing if the machine cannot add up elements of that type.
std::optional<Adds> adds_of(const Op* op, const TensorMap& map) {
  if (static_cast<Adds>(op->mode >> 2) == Adds::nothing) return Adds::nothing;
  if (map.element_bytes == 4) return map.is_real ? Adds::floats : Adds::words;
  if (map.element_bytes == 8) return map.is_real ? Adds::doubles : Adds::pairs_of_words;
  return {};
}

// What lanes say alike is one copy, the first one's, unless it adds to what is there.
const Op* box_to_global(const Op* op, Warp& w) {
  uint64_t maps[warp_size];
  addresses_of(op, w, maps);
  std::set<std::tuple<uint64_t, uint64_t, decltype(Box::at)>> made;
  for (uint32_t todo = w.mask; todo != 0; todo &= todo - 1) {
    const int lane = std::countr_zero(todo);
    Box box;
    if (!read_box(op, w, lane, maps[lane], true, box)) return nullptr;
    const auto adds = adds_of(op, box.map);
    if (!adds) {
      report(w, op, Fault::unsupported,
             fmt::format("{} adds to elements of {} bytes", thread_text(w, lane),
                         box.map.element_bytes));
      return nullptr;
    }
    if (*adds == Adds::nothing && !made.emplace(maps[lane], box.shared, box.at).second) continue;
    const auto write_row = [&](uint64_t byte, uint64_t address, uint64_t bytes) {
      bytes = (bytes + piece - 1) / piece * piece;
      count_bulk(op, w, address, bytes);
      while (bytes != 0) {
        const uint64_t n = next_bytes(byte, address, bytes);
        if (!write_out(op, w, lane, box.place(byte), address, static_cast<int>(n), *adds))
          return false;
        byte += n, address += n, bytes -= n;
      }
      return true;
    };
    if (!for_each_row(box, write_row)) return nullptr;
    hold_source(w, lane, box.shared, box.bytes());
  }
  return op + 1;
}

}  // namespace

void add_tensor_copy_handlers(Handlers& to) {
  to["cp.async.bulk.tensor.shared"] = {box_to_shared, ""};
  to["cp.async.bulk.tensor.global"] = {box_to_global, ""};
  to["fence.tensormap"] = {acquire_map, ""};
}

}  // namespace ptx
