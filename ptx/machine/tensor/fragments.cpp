#include <utility>

#include "ptx/machine/tensor/tensor.h"

namespace ptx {
namespace {

int per_register(Type type) {
  return type == Type::f64 ? 1 : 4 / (type == Type::tf32 ? 4 : bytes_of(type));
}

Fragment sized(Role role, const Extents& s, Type type, int registers) {
  Fragment f{.type = type,
             .rows = role == Role::b ? s.k : s.m,
             .columns = role == Role::a ? s.k : s.n,
             .per_register = per_register(type),
             .registers = registers};
  f.at.resize(static_cast<std::size_t>(registers * f.per_register * warp_size));
  return f;
}
template <class Where>
Fragment placed(Fragment f, const Where& where) {
  for (int r = 0; r < f.registers; ++r)
    for (int part = 0; part < f.per_register; ++part)
      for (int lane = 0; lane < warp_size; ++lane) {
        const auto [row, column] = where(r, part, lane);
        f.at[static_cast<std::size_t>((r * f.per_register + part) * warp_size + lane)] =
            static_cast<std::uint16_t>(row * f.columns + column);
      }
  return f;
}

}  // namespace

// Four lanes share a row of A and of the sums, or a column of B. Each register holds neighbours.
Fragment fragment_of_mma(Role role, const Extents& s, Type type, int registers) {
  Fragment f = sized(role, s, type, registers);
  const int p = f.per_register;
  if (role == Role::b || s.m == 16)
    f.layout = role == Role::a ? Layout::rows : role == Role::b ? Layout::columns : Layout::sums;
  return placed(f, [&](int r, int part, int lane) {
    const int group = lane / 4, of_four = lane % 4;
    if (role == Role::sum) {
      const int e = r * p + part;
      return std::pair(group + 8 * (e / 2), 2 * of_four + e % 2);
    }
    const int halves = role == Role::a && s.m == 16 ? 2 : 1;  // rows 0 to 7, then 8 to 15
    const int across = group + 8 * (r % halves), along = of_four * p + part + 4 * p * (r / halves);
    return role == Role::a ? std::pair(across, along) : std::pair(along, across);
  });
}

Fragment fragment_of_wmma(Role role, const Extents& s, Type type, int registers) {
  Fragment f = sized(role, s, type, registers);
  const int each = f.registers * f.per_register;
  const bool is_known = role == Role::sum && type != Type::f64 && s.m >= 16;
  if (is_known && s.m == 16) f.layout = Layout::sums;
  return placed(f, [&](int r, int part, int lane) {
    const int e = r * f.per_register + part, group = lane / 4, of_four = lane % 4;
    if (is_known) {
      const int tile = 8 * (e / 4), row = group + 8 * (e / 2 % 2), column = 2 * of_four + e % 2;
      return s.n == 8 ? std::pair(row + 2 * tile, column) : std::pair(row, column + tile);
    }
    const int n = (lane * each + e) % f.count();  // some matrices are held several times
    return std::pair(n / f.columns, n % f.columns);
  });
}

}  // namespace ptx
