// Modules and functions as a whole.
#include "ptx/reader/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/reader/tests/flaws.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;

const Function& function(const Module& module, std::string_view name) {
  for (const Function& one : module.functions)
    if (one.name == name) return one;
  throw std::out_of_range("no function " + std::string(name));
}

TEST(Reader, ReadsAllSamplesWhole) {
  for (const std::string_view sample : all_samples()) EXPECT_EQ(flaw_of(read(sample)), "");
}

TEST(Reader, ReadsTheHeader) {
  const Module module = read(calls_sample);
  EXPECT_EQ(module.version, "8.4");
  EXPECT_EQ(module.target, "sm_80");
  EXPECT_EQ(read(".version 9.0\n.target sm_90").functions.size(), 0u) << "no .address_size is 64";
}

TEST(Reader, ReadsAKernel) {
  const Module module = read(kernel_sample);
  ASSERT_EQ(module.functions.size(), 1u);
  const Function& scale = module.functions.front();
  EXPECT_TRUE(scale.is_kernel);
  EXPECT_FALSE(scale.is_extern);
  EXPECT_EQ(scale.max_threads, 512u);
  EXPECT_THAT(scale.cluster, ElementsAre(0, 0, 0));
  ASSERT_EQ(scale.params.size(), 4u);
  EXPECT_EQ(scale.params[1].name, "scale_param_1");
  EXPECT_EQ(scale.params[1].space, Space::param);
  EXPECT_EQ(scale.params[1].bytes, 80u);
  EXPECT_EQ(scale.params[1].align, 8u);
  EXPECT_EQ(scale.params[2].type, Type::u64);
  EXPECT_EQ(scale.params[2].align, 8u) << "what it points to is aligned to 16 bytes, not itself";
  ASSERT_EQ(scale.variables.size(), 1u);
  EXPECT_EQ(scale.variables[0].space, Space::shared);
  EXPECT_EQ(scale.variables[0].bytes, 2048u);
  EXPECT_EQ(scale.body.size(), 17u);
  EXPECT_EQ(scale.body[0].line, 27);
}

TEST(Reader, ReadsOpcodesAndModifiers) {
  const Function kernel = body_of(
      "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%r1], [%rd1, {%r2, %r3}], [%r4];\n"
      "ret;");
  EXPECT_EQ(kernel.body[0].opcode, "ld");
  EXPECT_THAT(kernel.body[0].modifiers, ElementsAre("global", "nc", "v4", "f32"));
  EXPECT_THAT(kernel.body[1].modifiers, ElementsAre("try_wait", "parity", "shared::cta", "b64"));
  EXPECT_THAT(kernel.body[2].modifiers,
              ElementsAre("async", "bulk", "tensor", "2d", "shared::cluster", "global",
                          "mbarrier::complete_tx::bytes"));
  EXPECT_TRUE(kernel.body[3].modifiers.empty());
  EXPECT_TRUE(kernel.body[3].operands.empty());
  EXPECT_EQ(kernel.body[1].line, 8);
}

TEST(Reader, TellsDeclaredFunctionsFromDefinedOnes) {
  const Module module = read(calls_sample);
  ASSERT_EQ(module.functions.size(), 7u);
  EXPECT_TRUE(function(module, "vprintf").is_extern);
  EXPECT_TRUE(function(module, "__assertfail").is_extern);
  EXPECT_FALSE(function(module, "idle").is_extern);
  const Function& twice = function(module, "twice");
  EXPECT_FALSE(twice.is_extern) << "declared first, defined later";
  EXPECT_FALSE(twice.is_kernel);
  EXPECT_EQ(twice.body.size(), 4u);
  ASSERT_EQ(twice.results.size(), 1u);
  EXPECT_EQ(twice.results[0].name, "func_retval0");
  EXPECT_EQ(twice.results[0].bytes, 4u);
  EXPECT_EQ(function(module, "twice_all").results[0].bytes, 16u);
  EXPECT_EQ(read(with_declarations(".func f() { ret; } .func f();")).functions[0].body.size(), 1u)
      << "and the other way round";
}

TEST(Reader, AnAliasIsTheSameFunction) {
  const Module module = read(calls_sample);
  const Function& still = function(module, "still");
  EXPECT_FALSE(still.is_extern);
  ASSERT_EQ(still.body.size(), 1u);
  EXPECT_EQ(still.body[0].opcode, "exit");
  const Module declared = read(with_declarations(".func a(); .func f() { ret; } .alias a, f;"));
  EXPECT_FALSE(function(declared, "a").is_extern) << "nvcc declares it before";
}

TEST(Reader, ReadsWhatAKernelRequires) {
  const Module module = read(calls_sample);
  EXPECT_EQ(function(module, "caller").max_threads, 32u);
  EXPECT_THAT(function(module, "caller").cluster, ElementsAre(2, 1, 1));
  const Module all = read(with_declarations(
      ".entry k() .maxntid 8, 4, 2 .minnctapersm 1 .maxnctapersm 3 .maxnreg 32 .maxclusterrank 8\n"
      ".reqnctapercluster 2, 2 .blocksareclusters .abi_preserve 3 .abi_preserve_control 1\n"
      ".pragma \"nounroll\"; { ret; }\n"
      ".func .attribute(.unified(19, 95)) f();"));
  EXPECT_EQ(all.functions[0].max_threads, 64u);
  EXPECT_THAT(all.functions[0].cluster, ElementsAre(2, 2, 1));
  EXPECT_EQ(all.functions[0].max_cluster, 8u);
  EXPECT_TRUE(all.functions[0].blocks_are_clusters);
  EXPECT_TRUE(function(all, "f").is_extern);
}

TEST(Reader, ReadsLinesThatEndInCarriageReturns) {
  std::string text(kernel_sample);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  EXPECT_EQ(read(text).functions.at(0).body.size(), 17u);
}

}  // namespace
}  // namespace ptx::tests
