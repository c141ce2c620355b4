// Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix, wmma.load and
// wmma.store. Memory is read and written in pieces of 16 bytes, each by one lane.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ptx/machine/bits/kept.h"
#include "ptx/machine/bits/results.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/tensor/tensor.h"
#include "ptx/machine/warp_access.h"

namespace ptx {
namespace {

using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

constexpr int piece = 16;

// Null after a finding. `masks`, of the bits that nobody wrote, stay as they are where all are.
const std::byte* read_piece(const Op* op, Warp& w, Reach reach, int lane, uint64_t address,
                            std::byte* masks, bool& any, int bytes = piece) {
  uint32_t unwritten = 0;
  const std::byte* const from =
      reach(w, {.op = op, .lane = lane, .address = address, .bytes = bytes}, unwritten);
  any |= unwritten != 0;
  for (int word = 0; word * 4 < bytes; ++word)
    if ((unwritten >> word & 1) != 0) std::memcpy(masks + word * 4, &w.last_bits[word], 4);
  return from;
}
std::byte* write_piece(const Op* op, Warp& w, Reach reach, int lane, uint64_t address,
                       int bytes = piece) {
  uint32_t unwritten = 0;
  return reach(w, {.op = op, .lane = lane, .address = address, .bytes = bytes, .writes = true},
               unwritten);
}
std::byte* bytes_of(uint16_t (&row)[8]) { return reinterpret_cast<std::byte*>(row); }

// Of eight rows of eight elements of 16 bits, lane i holds two neighbours of row i / 4; transposed,
// two neighbours of column i / 4. Lanes 8 m to 8 m + 7 have the addresses of matrix m.
struct Pair {
  int row[2], column[2];
};
Pair pair_of(int lane, bool transposed) {
  const int across = lane / 4, along = lane % 4 * 2;
  if (transposed) return {{along, along + 1}, {across, across}};
  return {{across, across}, {along, along + 1}};
}

// mode 1: transposed. parts: matrices.
template <Reach reach>
const Op* load_matrix(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  uint64_t at[warp_size];
  addresses_of(op, w, at);
  for (int m = 0; m < op->parts; ++m) {
    uint16_t rows[8][8], masks[8][8] = {};
    bool any = false;
    for (int row = 0; row < 8; ++row) {
      const int lane = 8 * m + row;
      const std::byte* from = read_piece(op, w, reach, lane, at[lane], bytes_of(masks[row]), any);
      if (from == nullptr) return nullptr;
      std::memcpy(rows[row], from, piece);
    }
    const int slot = slot_of_part(op, w, m);
    for (int lane = 0; lane < warp_size; ++lane) {
      const Pair p = pair_of(lane, op->mode == 1);
      const auto both = [&](const uint16_t(&of)[8][8]) {
        return of[p.row[0]][p.column[0]] | uint32_t{of[p.row[1]][p.column[1]]} << 16;
      };
      w.slot<uint32_t>(slot)[lane] = both(rows);
      if (w.has_taint || any) mark_unwritten(w, slot, lane, both(masks));
    }
  }
  return op + 1;
}

template <Reach reach>
const Op* store_matrix(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  uint64_t at[warp_size];
  addresses_of(op, w, at);
  for (int m = 0; m < op->parts; ++m) {
    const int slot = slot_of_part(op, w, m);
    uint16_t rows[8][8], masks[8][8] = {};
    Origin from[8];
    for (int lane = 0; lane < warp_size; ++lane) {
      const Pair p = pair_of(lane, op->mode == 1);
      const uint32_t word = w.slot<uint32_t>(slot)[lane];
      for (int half = 0; half < 2; ++half)
        rows[p.row[half]][p.column[half]] = static_cast<uint16_t>(word >> (16 * half));
      if (!w.has_taint) continue;
      for (int half = 0; half < 2; ++half) {
        const auto mask = static_cast<uint16_t>(unwritten_of(w, slot, lane) >> (16 * half));
        masks[p.row[half]][p.column[half]] = mask;
        if (mask != 0) from[p.row[half]] = origin_of(w, slot, lane);
      }
    }
    for (int row = 0; row < 8; ++row) {
      const int lane = 8 * m + row;
      std::byte* to = write_piece(op, w, reach, lane, at[lane]);
      if (to == nullptr) return nullptr;
      std::memcpy(to, rows[row], piece);
      if (w.has_taint)
        keep_unwritten(w, lane, at[lane], bytes_of(masks[row]), piece, from[row], reach);
    }
  }
  return op + 1;
}

const Op* transpose_matrix(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  uint16_t rows[8][8];
  const uint32_t* a = w.slot<uint32_t>(op->a);
  for (int lane = 0; lane < warp_size; ++lane)
    for (int half = 0; half < 2; ++half)
      rows[lane / 4][lane % 4 * 2 + half] = static_cast<uint16_t>(a[lane] >> (16 * half));
  uint32_t* d = w.slot<uint32_t>(op->d);
  for (int lane = 0; lane < warp_size; ++lane) {
    const Pair p = pair_of(lane, true);
    d[lane] = rows[p.row[0]][p.column[0]] | uint32_t{rows[p.row[1]][p.column[1]]} << 16;
  }
  return op + 1;
}

// A matrix in memory: `lines` of neighbours, which are rows or columns.
struct InMemory {
  int lines = 0, along = 0, element = 0;
  uint64_t first = 0, step = 0;  // bytes
  int piece = 16;                // that a lane reads or writes: less where a line is shorter
  std::size_t bytes() const { return static_cast<std::size_t>(lines * along * element); }
  int pieces_of_line() const { return along * element / piece; }
  uint64_t address_of(int n) const {  // of the n-th piece
    return first + static_cast<uint64_t>(n / pieces_of_line()) * step +
           static_cast<uint64_t>(n % pieces_of_line() * piece);
  }
};

bool describe(const Op* op, Warp& w, const MatrixOp& o, InMemory& memory) {
  const Fragment& f = o.d;
  memory.lines = o.by_columns ? f.columns : f.rows;
  memory.along = o.by_columns ? f.rows : f.columns;
  memory.element = o.element_bytes;
  memory.piece = std::min(piece, memory.along * memory.element);
  uint64_t at[warp_size];
  addresses_of(op, w, at);
  const int lane = std::countr_zero(w.mask);
  memory.first = at[lane];
  memory.step =
      static_cast<uint64_t>(memory.element) *
      (o.stride < 0 ? static_cast<uint64_t>(memory.along) : w.slot<uint32_t>(o.stride)[lane]);
  const auto whole = static_cast<uint64_t>(memory.piece);
  if (memory.first % whole == 0 && memory.step % whole == 0) return true;
  report(w, op, Fault::misaligned_access,
         fmt::format("{} has a matrix {} bytes past a multiple of {}, its rows or columns {} bytes "
                     "apart: the address and the distance must be multiples",
                     thread_text(w, lane), memory.first % whole, whole, memory.step),
         {memory.first, (op->flags & stores) != 0});
  return false;
}
// Where an element lies in a copy of the matrix, line after line.
std::size_t place_in(const InMemory& memory, const MatrixOp& o, int at) {
  const int row = at / o.d.columns, column = at % o.d.columns;
  const int line = o.by_columns ? column : row, i = o.by_columns ? row : column;
  return static_cast<std::size_t>((line * memory.along + i) * memory.element);
}

constexpr int most_bytes = 2048;

// What a lane holds of it in a slot.
std::byte* bytes_of_slot(const Warp& w, const MatrixOp& o, int slot, int lane) {
  return reinterpret_cast<std::byte*>(w.slots + std::ptrdiff_t{slot} * warp_size) +
         lane * (o.d.type == Type::f64 ? 8 : 4);
}

template <Reach reach>
const Op* load_fragment(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  const MatrixOp& o = w.block->run->kernel.matrices[static_cast<std::size_t>(op->e)];
  InMemory memory;
  if (!describe(op, w, o, memory)) return nullptr;
  std::byte copy[most_bytes], masks[most_bytes];
  std::memset(masks, 0, memory.bytes());
  bool any = false;
  for (int n = 0; n < memory.lines * memory.pieces_of_line(); ++n) {
    const std::byte* from = read_piece(op, w, reach, n % warp_size, memory.address_of(n),
                                       masks + n * memory.piece, any, memory.piece);
    if (from == nullptr) return nullptr;
    std::memcpy(copy + n * memory.piece, from, static_cast<std::size_t>(memory.piece));
  }
  const uint16_t* at = o.d.at.data();
  const int bytes = o.d.type == Type::f64 ? 8 : 4 / o.d.per_register;
  for (int r = 0; r < o.d.registers; ++r) {
    const int slot = w.lists[o.d.list + r];
    uint64_t unwritten[warp_size] = {};
    for (int part = 0; part < o.d.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::size_t from = place_in(memory, o, at[lane]);
        std::memcpy(bytes_of_slot(w, o, slot, lane) + part * bytes, copy + from,
                    static_cast<std::size_t>(bytes));
        if (!w.has_taint && !any) continue;
        std::memcpy(reinterpret_cast<std::byte*>(&unwritten[lane]) + part * bytes, masks + from,
                    static_cast<std::size_t>(bytes));
      }
    for (int lane = 0; lane < warp_size && (w.has_taint || any); ++lane)
      mark_unwritten(w, slot, lane, unwritten[lane]);
  }
  return op + 1;
}

template <Reach reach>
const Op* store_fragment(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  const MatrixOp& o = w.block->run->kernel.matrices[static_cast<std::size_t>(op->e)];
  InMemory memory;
  if (!describe(op, w, o, memory)) return nullptr;
  std::byte copy[most_bytes], masks[most_bytes];
  if (w.has_taint) std::memset(masks, 0, memory.bytes());
  const uint16_t* at = o.d.at.data();
  const int bytes = o.d.type == Type::f64 ? 8 : 4 / o.d.per_register;
  for (int r = 0; r < o.d.registers; ++r) {
    const int slot = w.lists[o.d.list + r];
    for (int part = 0; part < o.d.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::size_t to = place_in(memory, o, at[lane]);
        std::memcpy(copy + to, bytes_of_slot(w, o, slot, lane) + part * bytes,
                    static_cast<std::size_t>(bytes));
        if (!w.has_taint) continue;
        const uint64_t unwritten = unwritten_of(w, slot, lane);
        std::memcpy(masks + to, reinterpret_cast<const std::byte*>(&unwritten) + part * bytes,
                    static_cast<std::size_t>(bytes));
      }
  }
  for (int n = 0; n < memory.lines * memory.pieces_of_line(); ++n) {
    const uint64_t address = memory.address_of(n);
    std::byte* to = write_piece(op, w, reach, n % warp_size, address, memory.piece);
    if (to == nullptr) return nullptr;
    std::memcpy(to, copy + n * memory.piece, static_cast<std::size_t>(memory.piece));
    if (w.has_taint)
      keep_unwritten(w, n % warp_size, address, masks + n * memory.piece, memory.piece, {}, reach);
  }
  return op + 1;
}

}  // namespace

void add_matrix_handlers(Handlers& to) {
  to["ldmatrix.shared"] = {load_matrix<reach_shared>, ""};
  to["ldmatrix"] = {load_matrix<reach_generic>, ""};
  to["stmatrix.shared"] = {store_matrix<reach_shared>, ""};
  to["stmatrix"] = {store_matrix<reach_generic>, ""};
  to["movmatrix"] = {transpose_matrix, "ww"};
  to["wmma.load.shared"] = {load_fragment<reach_shared>, ""};
  to["wmma.load.global"] = {load_fragment<reach_global>, ""};
  to["wmma.load"] = {load_fragment<reach_generic>, ""};
  to["wmma.store.shared"] = {store_fragment<reach_shared>, ""};
  to["wmma.store.global"] = {store_fragment<reach_global>, ""};
  to["wmma.store"] = {store_fragment<reach_generic>, ""};
}

}  // namespace ptx
