// Kernels that nobody's assembler has seen: damaged ones run, with findings or not, or are refused.
#include <gtest/gtest.h>

#include "base/printable.h"
#include "ptx/machine/tests/written_kernel.h"
#include "ptx/reader/tests/damage.h"

namespace ptx::tests {
namespace {

// Instructions of all kinds, in the registers of a WrittenKernel.
const std::vector<std::string> bodies = {
    "mov.u32 %r1, tile; add.s32 %r2, %r1, 4; mad.lo.s32 %r3, %t, 4, %r1; st.shared.u32 [%r3], %t;"
    "bar.sync 0; ld.shared.v2.u32 {%r4, %r5}, [tile+8]; setp.lt.u32 %p1|%p2, %r4, 7; @%p1 bra $on;"
    "mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1; st.global.u32 [%rd2], %r5; $on: ret;",
    "mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1; ld.global.f32 %f1, [%rd2];"
    "fma.rn.ftz.f32 %f2, %f1, %f1, 0f3f800000; cvt.rn.f64.f32 %d1, %f2; sqrt.rn.f64 %d2, %d1;"
    "cvt.rzi.s32.f64 %r1, %d2; selp.b32 %r2, %r1, 5, %p1; atom.global.add.u32 %r3, [%out], %r2;"
    "red.shared.max.u32 [tile+16], %r3; membar.gl; fence.proxy.async; vote.sync.any.pred %p3, %p1,"
    " -1; shfl.sync.bfly.b32 %r4|%p4, %r3, 1, 31, -1; match.any.sync.b32 %r5, %r4, -1;",
    "mov.b64 %rd3, {%r1, %r2}; mov.b32 {%h1, %h2}, %r3; add.f16x2 %r4, %r1, %r2; set.lt.u32.f32 "
    "%r5, %f1, %f2; prmt.b32 %r6, %r1, %r2, 0x3210; lop3.b32 %r7, %r1, %r2, %r3, 0x96; bfe.u32 "
    "%r8, %r7, 3, 4; slct.u32.s32 %r9, %r1, %r2, %r3; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, 0, 0;"
    "redux.sync.add.s32 %r2, %r1, -1; bar.red.popc.u32 %r3, 1, 32, %p1; elect.sync %r4|%p1, -1;",
    "mov.u32 %r1, tile; mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %rd1, [%r1];"
    "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1; cp.async.ca.shared.global [%r1+64], [%out], 4;"
    "cp.async.commit_group; cp.async.wait_group 0; cp.async.bulk.global.shared::cta.bulk_group "
    "[%out], [%r1+64], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; barrier.sync 3;"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r1]; cvta.shared.u64 %rd2, %rd1;"
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4},"
    " {%r5, %r6}, {%f1, %f2, %f3, %f4}; nanosleep.u32 5; trap;"};

TEST(Damage, of_kernels_does_no_harm) {
  const std::uint64_t first = setting("PTX_DAMAGE_SEED", 1);
  const std::uint64_t rounds = setting("PTX_DAMAGE_ROUNDS", 4000);
  std::uint64_t unread = 0, refused = 0, ran = 0;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Damage damage(seed);
    std::string body = bodies[seed % bodies.size()];
    for (std::uint64_t times = 1 + damage.below(2); times > 0; --times) damage.apply(body, bodies);
    try {
      WrittenKernel kernel("{ .reg .b16 %h<9>; " + body + "}");
      const Outcome outcome = kernel.run(
          40,
          {.order = Order::shuffled, .seed = seed, .cpu_seconds = 0.02, .counts = seed % 3 == 0});
      const bool is_refused = outcome.finding && outcome.finding->fault == Fault::unsupported;
      ++(is_refused ? refused : ran);
      ASSERT_TRUE(!is_refused || text_of(outcome) == assay::printable(text_of(outcome))) << seed;
    } catch (const BadPtx&) {
      ++unread;
    }
  }
  EXPECT_GT(unread, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
  EXPECT_GT(ran, rounds / 20);
}

}  // namespace
}  // namespace ptx::tests
