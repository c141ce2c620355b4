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
  exits({"kernels/mine.cu", 0, false}, testing::ExitedWithCode(0), "");
  exits({"kernels/mine.cu", 1, false}, testing::ExitedWithCode(7), "mine.cu registers no variant:");
  exits({"kernels/mine.cu", 0, true}, testing::ExitedWithCode(7), "no variant for the GPU:");
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
  for (int multiple : {0, -4, 65536})
    EXPECT_EXIT(register_and_list({with(Needs{.k_multiple = multiple})}), refused, "a multiple of");
  for (int bytes : {0, 1, 12, 512})
    EXPECT_EXIT(register_and_list({with(Needs{.b_alignment = bytes})}), refused, "a power of 2");
  for (int side : {0, -5, 1'000'000})
    EXPECT_EXIT(register_and_list({with(Tile{1, side, 1})}), refused, "a side of its tile");
  EXPECT_EXIT(register_and_list({right, named("mine_2"), with(Needs{.a_alignment = 256})}), refused,
              "two variants");
  EXPECT_EXIT(register_and_list({right, named("mine_2")}), testing::ExitedWithCode(0), "");
}

}  // namespace
