// wgmma.mma_async: each warp multiplies its 16 rows of A by all of B.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/tensor/cores.h"
#include "ptx/machine/tensor/elements.h"
#include "ptx/machine/warpgroup/pieces.h"
#include "ptx/machine/warpgroup/warpgroup.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr int rows = 16;  // of a warp
constexpr int most_k = 32, most_n = 256;
constexpr uint32_t all_warps = (1u << warps_of_group) - 1;

bool refuse_use(const Op* op, Warp& w, const char* what) {
  report(w, op, Fault::trap, thread_text(w, 0) + " " + what);
  return false;
}

// The four warps of a warpgroup have to be there, whole.
bool is_whole_group(const Op* op, Warp& w) {
  const int behind = (w.index / warps_of_group + 1) * warps_of_group * warp_size;
  return w.block->thread_count >= behind ||
         refuse_use(op, w, "executes a wgmma in a warpgroup of less than four whole warps");
}

// What all lanes have to agree on; false after a finding.
bool agree(const Op* op, Warp& w, int slot, uint64_t& descriptor) {
  if (slot < 0) return true;
  const uint64_t* const all = w.slot<uint64_t>(slot);
  descriptor = all[0];
  return std::all_of(all, all + warp_size, [&](uint64_t one) { return one == descriptor; }) ||
         refuse_use(op, w, "executes a wgmma whose descriptors are not the same in all lanes");
}

void wake(Warp& w) {
  const int first = w.index / warps_of_group * warps_of_group;
  for (int n = first; n < first + warps_of_group; ++n)
    for (Group& g : w.block->warps[static_cast<std::size_t>(n)].others)
      if (g.state == Group::State::at_warpgroup) g.state = Group::State::ready;
}

Lines rows_of_a(const GroupProduct& o, const Warpgroup::Product& p, int first, int count) {
  return {SharedMatrix(p.a), o.a_across_k, first, count, o.k, o.type_a};
}
Lines columns_of_b(const GroupProduct& o, const Warpgroup::Product& p) {
  return {SharedMatrix(p.b), o.b_across_k, 0, o.n, o.k, o.type_b};
}

// From now on nobody may write what any of the four warps may read.
void hold_words(const Op* op, Warp& w, const GroupProduct& o, Warpgroup::Product& p) {
  const auto hold = [&](const Lines& lines) {
    for (const uint32_t at : lines.pieces()) p.words.push_back(at / 4);
  };
  if (o.a_descriptor >= 0) hold(rows_of_a(o, p, 0, rows * warps_of_group));
  hold(columns_of_b(o, p));
  for (const uint32_t first : p.words)
    w.block->shadow.hold_for_product(w, first, static_cast<uint32_t>(op - w.code));
}

// The next product of this warp, which others may have begun. Null after a finding.
Warpgroup::Product* begin(const Op* op, Warp& w, const GroupProduct& o) {
  uint64_t a = 0, b = 0;
  if (!agree(op, w, o.a_descriptor, a) || !agree(op, w, o.b_descriptor, b)) return nullptr;
  Warpgroup& group = warpgroup_of(w);
  const std::size_t n = part_of(w).begun++ - group.complete;
  if (n == group.under_way.size()) group.under_way.push_back({.op = op, .a = a, .b = b});
  Warpgroup::Product& p = group.under_way[n];
  if (p.op != op || p.a != a || p.b != b) {
    const Program::Kernel& kernel = w.block->run->kernel;
    report(w, op, p.op != op ? Fault::barrier_not_reached : Fault::trap,
           p.op != op
               ? fmt::format("warps of one warpgroup execute two different wgmma: {} the one "
                             "at {}, another warp the one at {}",
                             thread_text(w, 0), place_of(kernel, *op), place_of(kernel, *p.op))
               : thread_text(w, 0) +
                     " executes a wgmma with other descriptors than another "
                     "warp of its warpgroup",
           {.sites = {site(w, "executes", op), site(w, "executed", p.op)}});
    return nullptr;
  }
  p.warps |= 1u << w.index % warps_of_group;
  if (p.warps == all_warps) wake(w);
  return &p;
}

// Elements of some lines as numbers, and which of them nobody wrote all bits of.
template <class T>
struct Elements {
  std::vector<T> values;
  std::vector<std::uint8_t> is_unwritten;  // empty: all are written
};

template <class T, Type type, class Place>
void read_elements(const Warp& w, const Lines& lines, const std::vector<uint32_t>& pieces,
                   const UnwrittenWords& unwritten, const Place& place, Elements<T>& to) {
  constexpr uint32_t bits = type == Type::tf32                        ? 32
                            : type == Type::f16 || type == Type::bf16 ? 16
                                                                      : 8;
  to.values.resize(static_cast<std::size_t>(lines.count * lines.k));
  if (!unwritten.empty()) to.is_unwritten.resize(to.values.size());
  const std::byte* const shared = w.block->shared.data();
  lines.for_each_element([&](int piece, int e, int line, int p) {
    const auto n = static_cast<std::size_t>(piece);
    const uint32_t bit = static_cast<uint32_t>(e) * bits;
    uint32_t word = 0;
    std::memcpy(&word, shared + pieces[n] + bit / 32 * 4, 4);
    to.values[place(line, p)] = value_of_element<T>(type, word >> bit % 32);
    if (!unwritten.empty())
      to.is_unwritten[place(line, p)] =
          unwritten[n][bit / 32] >> bit % 32 << (32 - bits) != 0 ? 1 : 0;
  });
}

// False after a finding.
template <class T, class Place>
bool read_lines(const Op* op, Warp& w, const Lines& lines, const Place& place, Elements<T>& to) {
  const std::vector<uint32_t> pieces = lines.pieces();
  UnwrittenWords unwritten;
  if (!may_read_pieces(op, w, pieces, unwritten)) return false;
  switch (lines.type) {  // once, not for each element
    case Type::f16: read_elements<T, Type::f16>(w, lines, pieces, unwritten, place, to); break;
    case Type::bf16: read_elements<T, Type::bf16>(w, lines, pieces, unwritten, place, to); break;
    case Type::tf32: read_elements<T, Type::tf32>(w, lines, pieces, unwritten, place, to); break;
    case Type::e4m3: read_elements<T, Type::e4m3>(w, lines, pieces, unwritten, place, to); break;
    case Type::e5m2: read_elements<T, Type::e5m2>(w, lines, pieces, unwritten, place, to); break;
    case Type::s8: read_elements<T, Type::s8>(w, lines, pieces, unwritten, place, to); break;
    default: read_elements<T, Type::u8>(w, lines, pieces, unwritten, place, to); break;
  }
  return true;
}

template <class T>
bool read_a(const Op* op, Warp& w, const GroupProduct& o, const Warpgroup::Product& p,
            Elements<T>& a) {
  const auto k = static_cast<std::size_t>(o.k);
  if (o.a_descriptor >= 0) {
    const Lines lines = rows_of_a(o, p, w.index % warps_of_group * rows, rows);
    const auto place = [&](int line, int at) {
      return static_cast<std::size_t>(line) * k + static_cast<std::size_t>(at);
    };
    return read_lines(op, w, lines, place, a);
  }
  a.values.resize(rows * k);
  take(o.a, w, a.values.data());
  if (!w.has_taint) return true;
  bool unwritten[rows * most_k] = {};
  take_taint(o.a, w, unwritten);
  a.is_unwritten.assign(unwritten, unwritten + a.values.size());
  return true;
}

void multiply_into(float* c, const float* a, const float* b, const GroupProduct& o) {
  multiply_in_cores(c, a, b, rows, o.n, o.k, {o.type_a, o.type_b, o.d.type});
}
void multiply_into(std::int64_t* c, const std::int64_t* a, const std::int64_t* b,
                   const GroupProduct& o) {
  for (int j = 0; j < o.n; j += 8) multiply_columns<8>(c + j, a, b + j, rows, o.n, o.k);
}

// An element of A reaches all sums of its row, one of B all of its column.
template <class T>
void follow(const GroupProduct& o, Warp& w, bool adds, const Elements<T>& a, const Elements<T>& b) {
  if (!w.has_taint && a.is_unwritten.empty() && b.is_unwritten.empty()) return;
  bool c[rows * most_n] = {};
  const auto scale = static_cast<std::size_t>(std::max(o.scales_d, 0));
  const bool is_unset = o.scales_d >= 0 && (w.predicate_taint[scale] & 1) != 0;
  if (is_unset) std::fill(std::begin(c), std::end(c), true);
  if (adds) take_taint(o.d, w, c);
  const int n = o.n, k = o.k;
  const auto is_unwritten = [](const Elements<T>& of, int at) {
    return !of.is_unwritten.empty() && of.is_unwritten[static_cast<std::size_t>(at)] != 0;
  };
  for (int i = 0; i < rows; ++i)
    for (int p = 0; p < k; ++p) {
      const bool is_row = is_unwritten(a, i * k + p);
      for (int j = 0; j < n; ++j) c[i * n + j] |= is_row || is_unwritten(b, p * n + j);
    }
  give_taint(o.d, w, c);
}

template <class T>
void compute(const GroupProduct& o, Warp& w, bool adds, const Elements<T>& a,
             const Elements<T>& b) {
  T c[rows * most_n] = {};
  if (adds) take(o.d, w, c);
  multiply_into(c, a.values.data(), b.values.data(), o);
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (o.saturates)
      for (T& sum : c)
        sum = std::clamp<T>(sum, std::numeric_limits<std::int32_t>::min(),
                            std::numeric_limits<std::int32_t>::max());
  give(o.d, w, c);
}

template <class T>
const Op* multiply(const Op* op, Warp& w) {
  if (!is_whole(w, op)) return next_group(w);
  const GroupProduct& o = w.block->run->kernel.products[static_cast<std::size_t>(op->e)];
  if (!is_whole_group(op, w) || !may_use_registers(op, w, o)) return nullptr;
  Warpgroup::Product* const p = begin(op, w, o);
  if (p == nullptr) return nullptr;
  Elements<T> a, b;
  const auto n = static_cast<std::size_t>(o.n);
  const auto place_in_b = [&](int line, int at) {
    return static_cast<std::size_t>(at) * n + static_cast<std::size_t>(line);
  };
  if (!read_a(op, w, o, *p, a) || !read_lines(op, w, columns_of_b(o, *p), place_in_b, b))
    return nullptr;
  if (p->words.empty()) hold_words(op, w, o, *p);
  if (o.negates_a != o.negates_b)
    for (T& value : a.values) value = -value;
  const bool adds = o.scales_d < 0 ? o.adds : (w.predicates[o.scales_d] & 1) != 0;
  follow(o, w, adds, a, b);
  compute(o, w, adds, a, b);
  give_registers(op, w, o, part_of(w).begun);
  return op + 1;
}

}  // namespace

void add_group_multiply_handlers(Handlers& to) {
  to["wgmma.f32"] = {multiply<float>, ""};
  to["wgmma.s32"] = {multiply<std::int64_t>, ""};
}

}  // namespace ptx
