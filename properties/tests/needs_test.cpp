// What variants declare to need: what violates a need is refused, and each need is needed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "properties/fitting.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

// One thing that a variant may need, and how a case comes to lack just that.
struct Need {
  std::string name;
  bool declared;
  Needs without;  // all other needs of the variant
  std::function<void(Case&, int step)> violate;
};

std::vector<Need> needs_of(const Needs& needs) {
  std::vector<Need> all;
  const auto multiple = [&](const char* name, int Needs::*member, auto change) {
    Needs without = needs;
    without.*member = 1;
    all.push_back({name, needs.*member > 1, without, change});
  };
  multiple("m_multiple", &Needs::m_multiple, [](Case& c, int step) { c.m += step; });
  multiple("n_multiple", &Needs::n_multiple, [](Case& c, int step) { c.n += step; });
  multiple("k_multiple", &Needs::k_multiple, [](Case& c, int step) { c.k += step; });
  multiple("lda_multiple", &Needs::lda_multiple, [](Case& c, int step) { c.lda.floats += step; });
  multiple("ldb_multiple", &Needs::ldb_multiple, [](Case& c, int step) { c.ldb.floats += step; });
  multiple("ldc_multiple", &Needs::ldc_multiple, [](Case& c, int step) { c.ldc.floats += step; });
  const auto limit = [&](const char* name, std::int64_t Needs::*member, std::int64_t none,
                         auto change) {
    Needs without = needs;
    without.*member = none;
    all.push_back({name, needs.*member != none, without, change});
  };
  const auto below = [&](std::int64_t Case::*size, std::int64_t least) {
    return [=](Case& c, int step) { c.*size = std::max<std::int64_t>(0, least - step); };
  };
  const auto beyond = [&](std::int64_t Case::*size, std::int64_t most) {
    return [=](Case& c, int step) { c.*size = most + step; };
  };
  limit("m_least", &Needs::m_least, 0, below(&Case::m, needs.m_least));
  limit("n_least", &Needs::n_least, 0, below(&Case::n, needs.n_least));
  limit("k_least", &Needs::k_least, 0, below(&Case::k, needs.k_least));
  limit("m_most", &Needs::m_most, any_size, beyond(&Case::m, needs.m_most));
  limit("n_most", &Needs::n_most, any_size, beyond(&Case::n, needs.n_most));
  limit("k_most", &Needs::k_most, any_size, beyond(&Case::k, needs.k_most));
  const auto alignment = [&](const char* name, int Needs::*member, std::size_t operand) {
    Needs without = needs;
    without.*member = 4;
    all.push_back({name, needs.*member > 4, without,
                   [operand](Case& c, int step) { c.offset.floats[operand] = step % 4; }});
  };
  alignment("a_alignment", &Needs::a_alignment, 0);
  alignment("b_alignment", &Needs::b_alignment, 1);
  alignment("c_alignment", &Needs::c_alignment, 2);
  const auto flag = [&](const char* name, bool Needs::*member, auto change) {
    Needs without = needs;
    without.*member = false;
    all.push_back({name, needs.*member, without, change});
  };
  flag("packed", &Needs::packed, [](Case& c, int step) {
    (step % 3 == 0 ? c.lda : step % 3 == 1 ? c.ldb : c.ldc).floats += 4;
  });
  flag("square", &Needs::square, [](Case& c, int step) { c.n += step; });
  flag("int_indices", &Needs::int_indices, [](Case& c, int step) {
    c.m = std::max<std::int64_t>(c.m, 2);
    c.ldc.floats = (std::int64_t{1} << 31) + step;
  });
  flag("alpha_one", &Needs::alpha_one,
       [](Case& c, int step) { c.alpha = 1 + static_cast<float>(step); });
  flag("beta_zero", &Needs::beta_zero,
       [](Case& c, int step) { c.beta = static_cast<float>(step); });
  std::erase_if(all, [](const Need& need) { return !need.declared; });
  return all;
}

// Cases that lack this need and no other.
std::vector<Case> violations(const Entry& entry, const Need& need) {
  Entry relaxed = entry;
  relaxed.variant.needs = need.without;
  std::vector<Case> cases;
  for (const auto& [m, n, k] : {std::array{33, 21, 19}, {5, 130, 16}, {128, 64, 7}, {1, 1, 1}}) {
    for (int step = 1; step < 4; ++step) {
      Case c = fitted({.m = m, .n = n, .k = k, .seed = static_cast<std::uint64_t>(step)},
                      entry.variant.needs);
      need.violate(c, step);
      c = fitted(c, need.without);
      if (refusal_of(relaxed, c).empty() && !refusal_of(entry, c).empty()) cases.push_back(c);
    }
  }
  return cases;
}

// Whether some case that lacks the need does not end in `right`.
bool is_tight(const Entry& entry, const Need& need) {
  for (const Case& c : violations(entry, need)) {
    for (Placement placement : {Placement::guarded, Placement::ends_at_fence}) {
      const Plan plan{.placement = placement, .ignore_needs = true};
      if (run_trial(entry, c, plan).status != TrialStatus::right) return true;
    }
  }
  return false;
}

TEST(Needs, of_every_variant_are_enforced_one_by_one) {
  int needs = 0;
  for (const Entry& entry : ladder()) {
    for (const Need& need : needs_of(entry.variant.needs)) {
      ++needs;
      const auto cases = violations(entry, need);
      EXPECT_GE(cases.size(), 4u) << entry.variant.name << " " << need.name;
      for (const Case& c : cases) {
        const Verdict verdict = run_trial(entry, c, {});
        EXPECT_EQ(to_string(verdict.status), "refused")
            << entry.variant.name << " " << need.name << ": " << to_string(c);
        EXPECT_EQ(verdict.reason, refusal_of(entry, c));
      }
    }
  }
  EXPECT_GE(needs, 8) << "two variants load quads";
}

TEST(Needs, of_every_variant_are_tight) {
  for (const Entry& entry : ladder()) {
    if (entry.backend == Backend::cuda)
      continue;  // its fault would end this process; the needs are those of simt
    for (const Need& need : needs_of(entry.variant.needs)) {
      const std::string_view name = need.name;
      if (name == "m_most" || name == "n_most") continue;  // few_rows is right for many, and slow
      EXPECT_TRUE(is_tight(entry, need))
          << entry.variant.name << " is right without its " << need.name;
    }
  }
}

// Whatever a claim is about, sizes that are to be equal can be that.
TEST(Needs, of_squares_leave_cases_of_wide_strides) {
  Entry entry = host_entry(multiply);
  entry.variant.needs.square = true;
  const Claim& wide = claim_named("wide_strides");
  for (std::uint64_t seed = 0; seed < 256; ++seed) {
    const Case c = nearest_case({.m = 7, .n = 9, .k = 8, .seed = seed}, wide, entry);
    EXPECT_EQ(c.m, c.n);
    EXPECT_EQ(c.n, c.k);
    EXPECT_EQ(wide.excludes_case(c), "") << to_string(c);
  }
}

// However far apart their rows were drawn, these end beyond 2^31 bytes and before 2^31 floats.
TEST(Needs, of_32_bit_indices_leave_cases_of_wide_strides) {
  Entry entry = host_entry(multiply);
  entry.variant.needs.int_indices = true;
  const Claim& wide = claim_named("wide_strides");
  int beyond_in_bytes = 0;  // the second row begins there
  for (std::uint64_t seed = 0; seed < 256; ++seed) {
    Case c{.m = 7, .n = 9, .k = 8, .seed = seed};
    for (Gap* gap : {&c.lda, &c.ldb, &c.ldc}) gap->floats = 1 << seed % 22;
    const Case moved = nearest_case(c, wide, entry);
    EXPECT_EQ(wide.excludes_case(moved), "") << to_string(moved);
    EXPECT_EQ(refusal_of(entry, moved), "");
    beyond_in_bytes += moved.m == 2 && moved.lda.floats >= 1 << 29;
  }
  EXPECT_GT(beyond_in_bytes, 5);
}

// Rows that are longer than 32 bits let them be apart.
TEST(Needs, of_32_bit_indices_leave_no_row_within_another) {
  Entry entry = host_entry(multiply);
  entry.variant.needs.int_indices = true;
  for (std::uint64_t seed = 0; seed < 256; ++seed) {
    const Case long_rows{.m = 7, .n = 1 << 29, .k = 8, .seed = seed};
    const Case c = nearest_case(long_rows, claim_named("wide_strides"), entry);
    EXPECT_GE(std::min({c.lda.floats, c.ldb.floats, c.ldc.floats}), 0) << to_string(c);
  }
}

TEST(Needs, are_told_from_needs_that_nobody_has) {
  const Needs everything{.m_multiple = 2,
                         .n_multiple = 2,
                         .k_multiple = 2,
                         .m_least = 3,
                         .n_least = 5,
                         .k_least = 1,
                         .m_most = 300,
                         .n_most = 301,
                         .k_most = 302,
                         .int_indices = true,
                         .lda_multiple = 2,
                         .ldb_multiple = 2,
                         .ldc_multiple = 2,
                         .a_alignment = 8,
                         .b_alignment = 8,
                         .c_alignment = 8,
                         .alpha_one = true,
                         .beta_zero = true};
  EXPECT_EQ(needs_of(everything).size(), 18u);
  EXPECT_EQ(needs_of({.square = true}).size(), 1u);
  EXPECT_EQ(needs_of({.packed = true}).size(), 1u);
  const auto expect_loose = [](const Needs& declared) {
    const Entry entry = host_entry(multiply, declared);
    for (const Need& need : needs_of(declared)) {
      EXPECT_GE(violations(entry, need).size(), 4u) << need.name;
      EXPECT_FALSE(is_tight(entry, need)) << need.name;
    }
  };
  expect_loose(everything);
  expect_loose({.packed = true});
  expect_loose({.square = true});

  const Entry only_product = host_entry(
      [](const Gemm& g, cudaStream_t stream) {
        Gemm plain = g;
        plain.alpha = 1, plain.beta = 0;
        return multiply(plain, stream);
      },
      {.k_multiple = 4, .alpha_one = true, .beta_zero = true});
  for (const Need& need : needs_of(only_product.variant.needs))
    EXPECT_EQ(is_tight(only_product, need), need.name != "k_multiple") << need.name;

  const Entry small = host_entry(  // a table of 40 rows, and a loop that runs at least once
      [](const Gemm& g, cudaStream_t stream) {
        if (g.m > 40 || g.k == 0) return cudaErrorInvalidValue;
        return multiply(g, stream);
      },
      {.n_least = 2, .k_least = 1, .m_most = 40});
  for (const Need& need : needs_of(small.variant.needs))
    EXPECT_EQ(is_tight(small, need), need.name != "n_least") << need.name;
}

}  // namespace
