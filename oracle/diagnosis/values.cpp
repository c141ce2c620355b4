// Mistakes that a value shows by itself: poison, infinities, zeros, another order of summation.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "oracle/diagnosis/evidence.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr double enormous = 1e36, ordinary = 1e30;
constexpr double smallest_normal = 0x1p-126;

bool has_input(const Evidence& e, Place p, bool (*test)(double)) {
  for (std::int64_t i = 0; i < e.depth(); ++i) {
    if (test(e.a(p, i)) || test(e.b(p, i))) return true;
  }
  return test(e.old_c(p));
}
bool is_nan(double value) { return std::isnan(value); }
bool is_infinite(double value) { return std::isinf(value); }

// Times a scalar once more, which a careless order of multiplications makes.
bool may_overflow(const Evidence& e, Place p) {
  const double scalar =
      std::max({1.0, std::abs(double{e.c().alpha}), std::abs(double{e.c().beta})});
  return e.gauge(p) > ordinary || e.gauge(p) * scalar > std::numeric_limits<float>::max();
}
bool has_wide_input(const Evidence& e, Place p) {
  return has_input(e, p,
                   [](double value) { return std::isfinite(value) && std::abs(value) > 65504; });
}

// Where beta is not 0, old bits are no accident: not even beside an infinity or a NaN that should
// have come through.
Diagnosis never_written(const Evidence& e) {
  if (e.all_wrong([&](Place p) { return e.is_unwritten(p); })) {
    return {{Fault::unwritten},
            e.depth() == 0
                ? fmt::format("they were never written: with {} = 0, C is still to become beta * C",
                              e.c().alpha == 0 ? "alpha" : "k")
                : "they were never written"};
  }
  bool any_number = false;
  const bool all_old = e.all_wrong([&](Place p) {
    any_number |= std::isfinite(e.got(p)) && e.got(p) != 0;
    return e.has_old_bits(p);
  });
  if (!all_old || !any_number || e.c().beta == 0 || !e.is_no_coincidence(1)) return {};
  return {{Fault::unwritten}, "C is unchanged there"};
}

// Trivial variables of kernels begin with the bytes FE, which is -1.69e38.
Diagnosis uninitialised(const Evidence& e) {
  bool any_number = false;
  const bool all_are = e.all_wrong([&](Place p) {
    any_number |= std::isfinite(e.got(p));
    return !(std::abs(e.got(p)) < enormous) && e.gauge(p) < ordinary;
  });
  if (!all_are || !any_number) return {};
  return {{Fault::read_register},
          "a variable was read before it was set (it begins as -1.69e38 here)"};
}

Diagnosis all_nan(const Evidence& e) {
  if (!e.all_wrong([&](Place p) { return std::isnan(e.got(p)); })) return {};
  for (Place p : e.places()) {
    const Diagnosis origin = origin_of_nan(static_cast<float>(e.got(p)));
    if (!origin.words.empty())
      return {origin.finding, fmt::format("they are NaN, from {}", origin.words)};
  }
  if (e.all_sampled([&](Place p) { return std::isinf(e.wanted(p)); }))
    return {{Fault::special_lost}, "they are NaN, where an infinity of the input must stay one"};
  if (e.all_sampled([&](Place p) { return may_overflow(e, p); }))
    return {{Fault::overflow}, "they are NaN: an intermediate result overflowed"};
  if (e.all_sampled([&](Place p) { return std::isfinite(e.wanted(p)) && has_wide_input(e, p); }))
    return {{Fault::overflow}, "they are NaN: an input beyond 65504 overflowed, as FP16 does"};
  return {{Fault::nan}, "they are NaN"};
}

Diagnosis special_lost(const Evidence& e) {
  if (e.all_sampled([&](Place p) { return std::isnan(e.wanted(p)) && !std::isnan(e.got(p)); })) {
    const bool given = e.all_sampled([&](Place p) { return has_input(e, p, is_nan); });
    return {{Fault::special_lost},
            given ? "a NaN of the input was lost"
                  : "0 * infinity, or infinity - infinity, was skipped: the result must be NaN"};
  }
  if (e.all_sampled([&](Place p) { return std::isinf(e.wanted(p)) && !std::isinf(e.got(p)); })) {
    const bool given = e.all_sampled([&](Place p) { return has_input(e, p, is_infinite); });
    if (given) return {{Fault::special_lost}, "an infinity of the input was lost"};
  }
  // Of the other sign none is lost: other elements show what happened.
  if (e.all_wrong([&](Place p) { return std::isinf(e.wanted(p)) && std::isinf(e.got(p)); }))
    return {};
  if (e.all_sampled([&](Place p) { return !std::isfinite(e.wanted(p)); }))
    return {{Fault::special_lost}, "an infinity or a NaN of the input was lost"};
  return {};
}

Diagnosis out_of_range(const Evidence& e) {
  const bool overflow = e.all_sampled([&](Place p) {
    return !std::isfinite(e.got(p)) && std::isfinite(e.wanted(p)) && may_overflow(e, p);
  });
  if (overflow)
    return {{Fault::overflow}, "an intermediate result overflowed, where the result does not"};
  const bool wide = e.all_sampled([&](Place p) {
    return !std::isfinite(e.got(p)) && std::isfinite(e.wanted(p)) && has_wide_input(e, p);
  });
  if (wide) return {{Fault::overflow}, "an input beyond 65504 overflowed, as FP16 does"};
  const bool flushed = e.all_wrong([&](Place p) {
    return e.got(p) == 0 && e.wanted(p) != 0 && std::abs(e.wanted(p)) < smallest_normal;
  });
  return flushed ? Diagnosis{{Fault::flushed}, "denormal results were flushed to 0"} : Diagnosis{};
}

Diagnosis sign_of_zero(const Evidence& e) {
  if (!e.all_wrong([&](Place p) { return e.got(p) == 0 && e.wanted(p) == 0; })) return {};
  const bool negative = std::signbit(e.got(e.places().front()));
  return {{Fault::sign_of_zero},
          fmt::format("only the sign of zero is wrong: they are {} instead of {}",
                      negative ? "-0" : "0", negative ? "0" : "-0")};
}

Diagnosis other_order(const Evidence& e) {
  const bool exact_in_every_order = e.c().fill == Fill::exact && is_exactly_summable(e.c());
  if (exact_in_every_order || !e.all_sampled([&](Place p) { return e.is_within_bound(p); }))
    return {};
  return {{Fault::other_order},
          "right within the bound, but summed in another order, or not by fused multiply-adds"};
}

}  // namespace

Diagnosis origin_of_nan(float value) {
  if (!std::isnan(value)) return {};
  const auto payload = [](std::uint32_t bits) { return bits & 0x3fffffu; };
  const std::uint32_t mine = payload(std::bit_cast<std::uint32_t>(value));
  if (mine == payload(guard_bits)) return {{Fault::read_outside}, "memory outside the matrices"};
  if (mine == payload(padding_bits)) return {{Fault::read_gap}, "a gap between rows"};
  if (mine == payload(unwritten_bits))
    return {{Fault::read_old_c}, "C before it was written, although beta is 0"};
  if ((mine & ~0xffffu) == payload(workspace_bits))
    return {{Fault::read_unwritten, Operand::workspace},
            "workspace that this launch has not written"};
  if (mine == payload(simt::unwritten_shared_bits))
    return {{Fault::read_shared}, "shared memory before it was written"};
  if (mine == payload(simt::absent_lane_bits))
    return {{Fault::read_lane}, "a lane of the warp that has left"};
  return {{Fault::nan}, ""};
}

Diagnosis mistaken_values(const Evidence& e) {
  for (auto attempt : {never_written, uninitialised, all_nan, special_lost, out_of_range,
                       sign_of_zero, other_order}) {
    if (Diagnosis mistake = attempt(e); !mistake.words.empty()) return mistake;
  }
  return {};
}

}  // namespace assay
