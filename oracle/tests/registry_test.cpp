// What a variant may say of itself.
#include "kernels/registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

namespace {

using namespace assay;

cudaError_t nothing(const Gemm&, cudaStream_t) { return cudaSuccess; }

Variant with(const Needs& needs) {
  return {.name = "mine", .idea = "Nothing.", .launch = nothing, .needs = needs};
}
Variant with(const Tile& tile) {
  return {.name = "mine", .idea = "Nothing.", .launch = nothing, .tile = tile};
}

// In a process of its own, as nothing can be taken out of the registry.
void register_and_list(const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) register_variant(variant, Backend::host, 0);
  try {
    registered();
  } catch (const BadVariant& error) {
    std::fputs(error.what(), stderr);
    _exit(7);
  }
  _exit(0);
}

TEST(RegistryDeathTest, refuses_a_kernel_file_that_registers_nothing) {
  const auto exits = [](const KernelFile& file, testing::ExitedWithCode code, const char* text) {
    EXPECT_EXIT((expect_variants_of({&file, 1}), register_and_list({with(Needs{})})), code, text);
  };
  exits({"kernels/mine.cu", 0, Backend::simt}, testing::ExitedWithCode(0), "");
  exits({"kernels/mine.cu", 1, Backend::simt}, testing::ExitedWithCode(7),
        "mine.cu registers no variant:");
  exits({"kernels/mine.cu", 0, Backend::cuda}, testing::ExitedWithCode(7), "no variant for cuda:");
}

TEST(RegistryDeathTest, refuses_what_cannot_be_judged) {
  const Variant right = with(Needs{});
  const auto named = [&](const char* name) {
    Variant variant = right;
    variant.name = name;
    return variant;
  };
  Variant no_launch = right, no_idea = right;
  no_launch.launch = nullptr, no_idea.idea = nullptr;
  const auto refused = testing::ExitedWithCode(7);
  EXPECT_EXIT(register_and_list({right, right}), refused, "two variants are registered as 'mine'");
  for (const char* name : {"", "--help", "my kernel", static_cast<const char*>(nullptr)})
    EXPECT_EXIT(register_and_list({named(name)}), refused, "a name is made of letters");
  EXPECT_EXIT(register_and_list({no_launch}), refused, "the variant mine: it has no launch");
  EXPECT_EXIT(register_and_list({no_idea}), refused, "the variant mine: it has no idea");
  Variant untold = right, unused = right;
  untold.launch = [](const Gemm&, cudaStream_t, void*) { return cudaSuccess; };
  unused.workspace = [](const Gemm&) { return std::int64_t{4}; };
  EXPECT_EXIT(register_and_list({untold}), refused, "it does not say how much");
  EXPECT_EXIT(register_and_list({unused}), refused, "its launch does not take it");
  for (int multiple : {0, -4, 65536})
    EXPECT_EXIT(register_and_list({with(Needs{.k_multiple = multiple})}), refused, "a multiple of");
  for (const Needs& needs :
       {Needs{.m_least = 5, .m_most = 4},
        {.m_multiple = 32, .m_least = 1, .m_most = 31},
        {.m_multiple = 4, .k_multiple = 3, .n_least = 1, .k_most = 11, .square = true}})
    EXPECT_EXIT(register_and_list({with(needs)}), refused, "at least");
  EXPECT_EXIT(register_and_list({with(Needs{.k_least = -1})}), refused, "k of at least -1");
  for (int bytes : {0, 1, 12, 512})
    EXPECT_EXIT(register_and_list({with(Needs{.b_alignment = bytes})}), refused, "a power of 2");
  for (int side : {0, -5, 1'000'000})
    EXPECT_EXIT(register_and_list({with(Tile{1, side, 1})}), refused, "a side of its tile");
  EXPECT_EXIT(register_and_list({right, named("mine_2"), with(Needs{.a_alignment = 256})}), refused,
              "two variants");
  EXPECT_EXIT(register_and_list({right, named("mine_2")}), testing::ExitedWithCode(0), "");
}

TEST(Refusal, names_the_size_that_a_variant_does_not_take) {
  const auto refuse = [](const Needs& needs, const Gemm& g) { return refusal(with(needs), g); };
  const auto packed = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Gemm{.m = m,
                .n = n,
                .k = k,
                .alpha = 1,
                .beta = 0,
                .a = nullptr,
                .lda = k,
                .b = nullptr,
                .ldb = n,
                .c = nullptr,
                .ldc = n};
  };
  EXPECT_EQ(refuse({.k_least = 1}, packed(3, 4, 0)), "k = 0 is less than 1");
  EXPECT_EQ(refuse({.k_least = 1}, packed(3, 4, 1)), "");
  EXPECT_EQ(refuse({.m_most = 1024}, packed(1025, 4, 1)), "m = 1025 is more than 1024");
  EXPECT_EQ(refuse({.n_most = 1024}, packed(1025, 1024, 1)), "");
  EXPECT_EQ(refuse({.square = true}, packed(4, 4, 5)), "m, n and k are not equal");
  EXPECT_EQ(refuse({.square = true}, packed(4, 4, 4)), "");

  Gemm wide = packed(2, 3, 4);
  wide.ldb = (std::int64_t{1} << 31) / 3;  // of four rows, the last ends after 3 distances
  EXPECT_EQ(refuse({.int_indices = true}, wide), "B spreads over more than 2^31 - 1 elements");
  wide.ldb -= 2;
  EXPECT_EQ(refuse({.int_indices = true}, wide), "");
  wide.lda = std::int64_t{1} << 40;
  EXPECT_EQ(refuse({.int_indices = true}, wide), "A spreads over more than 2^31 - 1 elements");
  wide.m = 1;
  EXPECT_EQ(refuse({.int_indices = true}, wide), "") << "the only row";
}

TEST(Needs, are_described_one_by_one) {
  EXPECT_EQ(describe({}), std::vector<std::string>());
  EXPECT_EQ(
      describe({.m_least = 2, .k_least = 1, .n_most = 64, .square = true, .int_indices = true}),
      (std::vector<std::string>{"m at least 2", "n at most 64", "k at least 1", "m = n = k",
                                "matrices that spread over less than 2^31 elements"}));
}

}  // namespace
