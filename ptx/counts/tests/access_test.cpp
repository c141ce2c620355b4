// What small kernels are counted to do, known by hand.
#include <gmock/gmock.h>

#include "ptx/counts/tests/counted.h"

namespace ptx::tests {
namespace {

GlobalTraffic loads(const std::string& body, unsigned threads = 32) {
  return counted(body, threads).total.global_loads;
}
std::string load_at(int stride, int offset = 0) {
  return fmt::format(
      "mul.wide.u32 %rd1, %t, {}; add.s64 %rd1, %rd1, %out;"
      "ld.global.f32 %f1, [%rd1+{}];",
      stride, offset);
}

TEST(GlobalLoads, AreRequestsAndSectors) {
  EXPECT_EQ(loads("ld.global.f32 %f1, [%a];"), (GlobalTraffic{1, 4, 32, 128})) << "coalesced";
  EXPECT_EQ(loads(load_at(8)), (GlobalTraffic{1, 8, 32, 128})) << "strided by 2";
  EXPECT_EQ(loads(load_at(64)), (GlobalTraffic{1, 32, 32, 128})) << "strided by 16";
  EXPECT_EQ(loads("ld.global.f32 %f1, [%a+4];"), (GlobalTraffic{1, 5, 32, 128})) << "misaligned";
  EXPECT_EQ(loads("ld.global.f32 %f1, [%out];"), (GlobalTraffic{1, 1, 32, 128})) << "broadcast";
  EXPECT_EQ(loads("ld.global.nc.f32 %f1, [%a];"), (GlobalTraffic{1, 4, 32, 128}));
  EXPECT_EQ(loads("ld.global.u8 %r1, [%out];"), (GlobalTraffic{1, 1, 32, 32}));
  EXPECT_EQ(loads(".reg .b16 %h; ld.global.b16 %h, [%out];"), (GlobalTraffic{1, 1, 32, 64}));
}

TEST(GlobalLoads, OfVectorsAreOneRequest) {
  const std::string at = "mul.wide.u32 %rd1, %t, 16; add.s64 %rd1, %rd1, %out;";
  EXPECT_EQ(loads(at + "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"),
            (GlobalTraffic{1, 16, 32, 512}));
  EXPECT_EQ(loads(at + "ld.global.v2.f32 {%f1, %f2}, [%rd1];"), (GlobalTraffic{1, 16, 32, 256}));
  EXPECT_EQ(loads(at + "ld.global.f64 %d1, [%rd1];"), (GlobalTraffic{1, 16, 32, 256}));
}

TEST(GlobalLoads, AreOfEachWarp) {
  EXPECT_EQ(loads("ld.global.f32 %f1, [%a];", 96), (GlobalTraffic{3, 12, 96, 384}));
  EXPECT_EQ(loads("ld.global.f32 %f1, [%a];", 40), (GlobalTraffic{2, 5, 40, 160}))
      << "a warp of 8 threads";
  EXPECT_EQ(counted("ld.global.f32 %f1, [%a];", 64, {}, 5).total.global_loads,
            (GlobalTraffic{10, 40, 320, 1280}))
      << "five blocks";
}

TEST(GlobalLoads, OfGuardedLanesOnly) {
  EXPECT_EQ(loads("setp.lt.u32 %p1, %t, 8; @%p1 ld.global.f32 %f1, [%a];"),
            (GlobalTraffic{1, 1, 8, 32}));
  EXPECT_EQ(loads("setp.lt.u32 %p1, %t, 8; @!%p1 ld.global.f32 %f1, [%a];"),
            (GlobalTraffic{1, 3, 24, 96}));
  EXPECT_EQ(loads("setp.gt.u32 %p1, %t, 99; @%p1 ld.global.f32 %f1, [%a];"), GlobalTraffic{})
      << "a guard that keeps all lanes out makes no request";
  EXPECT_EQ(loads("setp.lt.u32 %p1, %t, 32; @%p1 ld.global.f32 %f1, [%a];", 64),
            (GlobalTraffic{1, 4, 32, 128}))
      << "and neither does one that keeps a whole warp out";
}

TEST(GlobalLoads, OfDivergedLanesAreRequestsOfTheirOwn) {
  EXPECT_EQ(loads("setp.lt.u32 %p1, %t, 10; @%p1 bra L1; ld.global.f32 %f1, [%a]; bra L2;"
                  "L1: ld.global.f32 %f2, [%a]; L2: ld.global.f32 %f3, [%a];"),
            (GlobalTraffic{3, 2 + 3 + 4, 64, 256}));
}

TEST(GlobalStores, AreCountedApart) {
  const Counts c =
      counted("mov.u32 %r1, 1; st.global.u32 [%a], %r1; st.global.u32 [%a+516], %r1;").total;
  EXPECT_EQ(c.global_loads, GlobalTraffic{});
  EXPECT_EQ(c.global_stores, (GlobalTraffic{2, 9, 64, 256}));
}

TEST(GlobalAtomics, AreCountedApart) {
  const Counts c =
      counted("red.global.add.u32 [%out], 1; atom.global.add.u32 %r1, [%a+128], 1;").total;
  EXPECT_EQ(c.global_loads, GlobalTraffic{});
  EXPECT_EQ(c.global_stores, GlobalTraffic{});
  EXPECT_EQ(c.global_atomics, (GlobalTraffic{2, 5, 64, 256}));
}

constexpr const char* in_tile =
    "mov.u32 %r9, tile; shl.b32 %r8, %t, 2; add.u32 %r9, %r9, %r8; mov.u32 %r1, 7;";
// Writes all words of the tile that the tests read.
const std::string filled = std::string(in_tile) + R"(
  st.shared.u32 [%r9], %r1; st.shared.u32 [%r9+128], %r1; st.shared.u32 [%r9+256], %r1;
  st.shared.u32 [%r9+384], %r1;
  mov.u32 %r10, tile; mad.lo.u32 %r10, %t, 128, %r10; setp.gt.u32 %p1, %t, 3; @%p1 st.shared.u32 [%r10], %r1;
  bar.sync 0;)";
SharedTraffic shared_loads(const std::string& body) {
  return counted(filled + body).total.shared_loads;
}

TEST(SharedLoads, AreInstructionsAndWavefronts) {
  EXPECT_EQ(shared_loads("ld.shared.f32 %f1, [%r9];"), (SharedTraffic{1, 1, 32, 128}));
  EXPECT_EQ(shared_loads("ld.shared.f32 %f1, [tile+8];"), (SharedTraffic{1, 1, 32, 128}))
      << "broadcast";
  EXPECT_EQ(shared_loads("mov.u32 %r3, tile; shl.b32 %r2, %t, 3; add.u32 %r2, %r2, %r3;"
                         "ld.shared.f32 %f1, [%r2];"),
            (SharedTraffic{1, 2, 32, 128}))
      << "2-way conflict";
  EXPECT_EQ(shared_loads("ld.shared.f32 %f1, [%r10];"), (SharedTraffic{1, 32, 32, 128}))
      << "32-way conflict";
  EXPECT_EQ(shared_loads("setp.lt.u32 %p2, %t, 6; @%p2 ld.shared.f32 %f1, [%r10];"),
            (SharedTraffic{1, 6, 6, 24}));
}

TEST(SharedLoads, OfVectorsGoByQuarters) {
  const std::string at = "shl.b32 %r2, %t, 4; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;";
  EXPECT_EQ(shared_loads(at + "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2];"),
            (SharedTraffic{1, 4, 32, 512}));
  EXPECT_EQ(shared_loads("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [tile];"),
            (SharedTraffic{1, 2, 32, 512}));
  EXPECT_EQ(shared_loads("shl.b32 %r2, %t, 3; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;"
                         "ld.shared.v2.f32 {%f1, %f2}, [%r2];"),
            (SharedTraffic{1, 2, 32, 256}));
}

TEST(SharedLoads, ThroughGenericAddressesAreShared) {
  const Counts c = counted(filled +
                           "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; ld.f32 %f1, [%rd2];"
                           "ld.f32 %f2, [%a];")
                       .total;
  EXPECT_EQ(c.shared_loads, (SharedTraffic{1, 1, 32, 128}));
  EXPECT_EQ(c.global_loads, (GlobalTraffic{1, 4, 32, 128}));
}

TEST(SharedStores, AreCountedApart) {
  const Counts c =
      counted(std::string(in_tile) +
              "st.shared.u32 [%r9], %r1;"
              "shl.b32 %r2, %t, 4; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3; bar.sync 0;"
              "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};")
          .total;
  EXPECT_EQ(c.shared_loads, SharedTraffic{});
  EXPECT_EQ(c.shared_stores, (SharedTraffic{2, 5, 64, 640}));
}

TEST(SharedAtomics, AreCountedApart) {
  const Counts c = counted(filled + "atom.shared.add.u32 %r2, [tile], 1;").total;
  EXPECT_EQ(c.shared_loads, SharedTraffic{});
  EXPECT_EQ(c.shared_atomics, (SharedTraffic{1, 32, 32, 128}));
}

TEST(Matrices, AreLoadedRowByRow) {
  const auto matrices = [](int count, int row_bytes) {
    const std::string registers = count == 1   ? "%r1"
                                  : count == 2 ? "%r1, %r2"
                                               : "%r1, %r2, %r3, %r4";
    return counted(
               fmt::format("mov.u32 %r90, tile; mov.u32 %r92, 1; mad.lo.u32 %r91, %t, 128, %r90;"
                           "st.shared.v4.u32 [%r91], {{%r92, %r92, %r92, %r92}};"
                           "mad.lo.u32 %r93, %t, 16, %r90; bar.sync 0;"
                           "st.shared.v4.u32 [%r93], {{%r92, %r92, %r92, %r92}}; bar.sync 0;"
                           "mad.lo.u32 %r94, %t, {}, %r90;"
                           "ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {{{}}}, [%r94];",
                           row_bytes, count, registers))
        .total.shared_loads;
  };
  EXPECT_EQ(matrices(1, 16), (SharedTraffic{1, 1, 8, 128}));
  EXPECT_EQ(matrices(2, 16), (SharedTraffic{1, 2, 16, 256}));
  EXPECT_EQ(matrices(4, 16), (SharedTraffic{1, 4, 32, 512}));
  EXPECT_EQ(matrices(1, 128), (SharedTraffic{1, 8, 8, 128})) << "all rows on the same banks";
}

TEST(Matrices, OfWmmaAreSaidNotToBeCounted) {
  const LaunchCounts counts = counted(
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8},"
      "[%out], 16;");
  EXPECT_THAT(counts.not_counted, testing::ElementsAre("wmma.load"));
  EXPECT_EQ(counts.total.global_loads, GlobalTraffic{});
  EXPECT_EQ(counts.total.classes.at("matrix").warps, 1u);
}

TEST(LocalMemory, IsNotGlobal) {
  const Counts c = counted(
                       ".local .align 16 .b8 own[64]; mov.u32 %r1, 5; st.local.u32 [own+4], %r1;"
                       "ld.local.u32 %r2, [own+4]; ld.local.u32 %r3, [own+4];")
                       .total;
  EXPECT_EQ(c.global_loads, GlobalTraffic{});
  EXPECT_EQ(c.global_stores, GlobalTraffic{});
  EXPECT_EQ(c.local_loads, 2u);
  EXPECT_EQ(c.local_stores, 1u);
}

TEST(Copies, AreReadFromGlobalAndWrittenToShared) {
  const Counts c = counted(
                       "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 16, %r9; mul.wide.u32 %rd1, %t, 16;"
                       "add.s64 %rd1, %rd1, %out; cp.async.cg.shared.global [%r9], [%rd1], 16;"
                       "cp.async.commit_group; cp.async.wait_group 0;")
                       .total;
  EXPECT_EQ(c.global_loads, GlobalTraffic{});
  EXPECT_EQ(c.global_copies, (GlobalTraffic{1, 16, 32, 512}));
  EXPECT_EQ(c.shared_stores, SharedTraffic{});
  EXPECT_EQ(c.shared_copies, (SharedTraffic{1, 4, 32, 512}));
}

TEST(Copies, OfFewerBytesAskForFewer) {
  const Counts c = counted(
                       "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; setp.lt.u32 %p1, %t, 8;"
                       "selp.u32 %r2, 4, 0, %p1; cp.async.ca.shared.global [%r9], [%a], 4, %r2;"
                       "cp.async.wait_all;")
                       .total;
  EXPECT_EQ(c.global_copies, (GlobalTraffic{1, 1, 8, 32}));
  EXPECT_EQ(c.shared_copies, (SharedTraffic{1, 1, 32, 128}));
}

TEST(Copies, OfWholeStretchesAskForTheirSectors) {
  const LaunchCounts counts = counted(
      "mov.u32 %r1, tile; mov.u32 %r2, 7; st.shared.v4.u32 [%r1+1024], {%r2, %r2, %r2, %r2};"
      "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%out+1024], [%r1+1024], 16;"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
      "mbarrier.init.shared.b64 [%r1+2048], 1; fence.mbarrier_init.release.cluster;"
      "add.s64 %rd1, %out, 16;"
      "mbarrier.arrive.expect_tx.shared.b64 %rd30, [%r1+2048], 160;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 160, "
      "[%r1+2048]; $again: mbarrier.test_wait.parity.shared.b64 %p1, [%r1+2048], 0;"
      "@!%p1 bra $again;",
      1);
  EXPECT_THAT(counts.not_counted, testing::IsEmpty());
  EXPECT_EQ(counts.total.bulk_loads, (GlobalTraffic{1, 6, 1, 160})) << "from 16 to 176";
  EXPECT_EQ(counts.total.bulk_stores, (GlobalTraffic{1, 1, 1, 16}));
  EXPECT_EQ(counts.total.global_loads, GlobalTraffic{});
  EXPECT_EQ(counts.total.global_stores, GlobalTraffic{});
  EXPECT_EQ(counts.total.shared_stores.instructions, 1u) << "the ordinary one";
}

TEST(Instructions, AreCountedByClass) {
  const Counts c = counted(
                       "mov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, %f1;"
                       "setp.lt.u32 %p1, %t, 5; @%p1 fma.rn.f32 %f3, %f1, %f1, %f1;"
                       "setp.gt.u32 %p2, %t, 32; @%p2 fma.rn.f32 %f3, %f1, %f1, %f1;"
                       "bar.sync 0; add.f32 %f4, %f1, %f1; fma.rn.f64 %d1, 0d3FF0000000000000,"
                       "0d3FF0000000000000, 0d3FF0000000000000;",
                       64)
                       .total;
  EXPECT_EQ(c.ffma(), 64u + 5 + 31);
  EXPECT_EQ(c.classes.at("fma.f32").warps, 2u + 1 + 1);
  EXPECT_EQ(c.classes.at("fma.f64").threads, 64u);
  EXPECT_EQ(c.classes.at("arithmetic.f32").warps, 2u);
  EXPECT_EQ(c.barriers, 2u);
  Executed sum;
  for (const auto& [name, executed] : c.classes) sum += executed;
  EXPECT_EQ(sum.warps, c.instructions.warps);
  EXPECT_EQ(sum.threads, c.instructions.threads);
}

TEST(Instructions, OfWarpsThatWaitForLanesCountOnce) {
  for (const Settings& settings : all_orders()) {
    // Ten lanes come later, from farther down.
    const Counts c = counted(
                         "mov.u32 %r3, -1; mov.u32 %r1, %t; setp.lt.u32 %p1, %t, 10;"
                         "@%p1 bra L1; L2: shfl.sync.bfly.b32 %r4, %r1, 1, 31, %r3; bra L3;"
                         "L1: mov.u32 %r1, 2; bra L2; L3: bar.sync 0;",
                         32, settings)
                         .total;
    EXPECT_EQ(c.classes.at("warp").warps, 1u);
    EXPECT_EQ(c.classes.at("warp").threads, 32u);
  }
}

TEST(Counts, DoNotFollowTheSchedule) {
  const auto text = [](const Settings& settings) {
    const LaunchCounts counts =
        counted(filled +
                    "ld.shared.f32 %f1, [%r9]; setp.lt.u32 %p2, %t, 70; @%p2 bra L1;"
                    "ld.global.f32 %f2, [%a]; L1: ld.shared.f32 %f3, [%r9+4]; bar.sync 0;"
                    "red.global.add.u32 [%out], 1;",
                32, settings, 7);
    std::string all;
    for (const LineCounts& line : counts.lines)
      for (const AccessCounts& a : line.accesses)
        all += fmt::format("{} {} {} {} {}; ", a.what, a.warps, a.pieces, a.stride.is_known,
                           a.stride.bytes);
    for (const auto& [name, e] : counts.total.classes)
      all += fmt::format("{} {} {}; ", name, e.warps, e.threads);
    return all;
  };
  const std::string first = text({});
  for (const Settings& settings : all_orders()) EXPECT_EQ(text(settings), first);
}

TEST(Counts, AreThereOnlyIfAskedFor) {
  WrittenKernel kernel("ld.global.f32 %f1, [%out];");
  EXPECT_FALSE(kernel.run(32).counts);
  EXPECT_TRUE(kernel.run(32, {.counts = true}).counts);
  WrittenKernel wrong("ld.global.f32 %f1, [%out+8000];");
  EXPECT_FALSE(wrong.run(32, {.counts = true}).counts)
      << "what has a finding did not run to its end";
}

TEST(Strides, AreBetweenTheFirstLanes) {
  const auto stride = [](const std::string& body) {
    const LaunchCounts counts = counted(body, 32);
    return counts.lines.at(0).accesses.at(0).stride;
  };
  EXPECT_EQ(stride("ld.global.f32 %f1, [%a];").bytes, 4);
  EXPECT_EQ(stride(load_at(64)).bytes, 64);
  EXPECT_EQ(stride("ld.global.f32 %f1, [%out];").bytes, 0);
  EXPECT_TRUE(stride("ld.global.f32 %f1, [%out];").is_known);
  EXPECT_FALSE(stride("setp.eq.u32 %p1, %t, 1; @%p1 ld.global.f32 %f1, [%out];").is_known)
      << "one lane alone";
}

}  // namespace
}  // namespace ptx::tests
