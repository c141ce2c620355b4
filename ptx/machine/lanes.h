// Runs a function for each active lane: what most handlers are.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace ptx {

// How a value lies in its slots: those of less than 32 bits take a word, of which they use the low
// bits.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct Stored<std::int16_t> {
  using type = std::uint32_t;
};
template <>
struct Stored<std::uint8_t> {
  using type = std::uint32_t;
};
template <>
struct Stored<std::int8_t> {
  using type = std::uint32_t;
};
template <class T>
using stored = typename Stored<T>::type;

template <class T>
inline constexpr char slot_letter = sizeof(stored<T>) == 8 ? 'x' : 'w';

// The next two write d[i] and read the sources at i only, so that lanes may run side by side.
template <class D, class Lane>
inline const Op* for_each_lane(const Op* op, Warp& w, const Lane& lane) {
  using Out = stored<D>;
  Out* d = w.slot<Out>(op->d);
  if (w.mask == all_lanes) {
#pragma GCC ivdep
    for (int i = 0; i < warp_size; ++i) d[i] = static_cast<Out>(lane(i));
  } else {
    const std::uint32_t* on = w.lane_masks;
#pragma GCC ivdep
    for (int i = 0; i < warp_size; ++i) d[i] = on[i] ? static_cast<Out>(lane(i)) : d[i];
  }
  return op + 1;
}

template <class F, class D, class A>
const Op* map1(const Op* op, Warp& w) {
  const stored<A>* a = w.slot<stored<A>>(op->a);
  return for_each_lane<D>(op, w, [=](int i) { return F::of(static_cast<A>(a[i])); });
}
template <class F, class D, class A, class B>
const Op* map2(const Op* op, Warp& w) {
  const stored<A>* a = w.slot<stored<A>>(op->a);
  const stored<B>* b = w.slot<stored<B>>(op->b);
  return for_each_lane<D>(op, w,
                          [=](int i) { return F::of(static_cast<A>(a[i]), static_cast<B>(b[i])); });
}
template <class F, class D, class A, class B, class C>
const Op* map3(const Op* op, Warp& w) {
  const stored<A>* a = w.slot<stored<A>>(op->a);
  const stored<B>* b = w.slot<stored<B>>(op->b);
  const stored<C>* c = w.slot<stored<C>>(op->c);
  return for_each_lane<D>(op, w, [=](int i) {
    return F::of(static_cast<A>(a[i]), static_cast<B>(b[i]), static_cast<C>(c[i]));
  });
}

// Sets predicate d to the lanes for which F holds.
template <class F, class A>
const Op* compare(const Op* op, Warp& w) {
  const stored<A>* a = w.slot<stored<A>>(op->a);
  const stored<A>* b = w.slot<stored<A>>(op->b);
  std::uint32_t holds[warp_size];
#pragma GCC ivdep
  for (int i = 0; i < warp_size; ++i)
    holds[i] = F::of(static_cast<A>(a[i]), static_cast<A>(b[i])) ? 1u << i : 0u;
  std::uint32_t all = 0;
  for (int i = 0; i < warp_size; ++i) all |= holds[i];
  std::uint32_t& d = w.predicates[op->d];
  d = (d & ~w.mask) | (all & w.mask);
  return op + 1;
}

// Of the lanes that run.
inline void set_predicate(Warp& w, int predicate, std::uint32_t lanes) {
  w.predicates[predicate] = (w.predicates[predicate] & ~w.mask) | (lanes & w.mask);
}

}  // namespace ptx
