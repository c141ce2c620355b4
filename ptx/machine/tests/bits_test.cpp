// Values of which somebody wrote some bits: those that nobody wrote are followed to where they are
// gone by, or dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

// What is found where %r1 is left in memory; nothing if all of its bits were written.
std::string left(const std::string& body, unsigned threads = 1) {
  return text_of(WrittenKernel(body + store_r1).run(threads));
}
MATCHER(IsUnwritten, "") { return arg.find("that nobody wrote") != std::string::npos; }
MATCHER(IsWritten, "") { return arg.empty(); }

// %r2: its low half was written. %r3 and %rd3: no bit of theirs.
const std::string half =
    "mov.u32 %r9, tile; st.shared.u16 [%r9], 7; ld.shared.u32 %r2, [%r9];"
    "ld.shared.u32 %r3, [%r9+8]; ld.shared.u64 %rd3, [%r9+8];";

TEST(Bits, of_a_half_are_left_by_masks) {
  EXPECT_THAT(left(half + "mov.b32 %r1, %r2;"), IsUnwritten());
  EXPECT_THAT(left(half + "and.b32 %r1, %r2, 0xffff;"), IsWritten());
  EXPECT_THAT(left(half + "and.b32 %r1, %r2, 0x1ffff;"), IsUnwritten());
  EXPECT_THAT(left(half + "or.b32 %r1, %r2, 0xffff0000;"), IsWritten());
  EXPECT_THAT(left(half + "or.b32 %r1, %r2, 0xfffe0000;"), IsUnwritten());
  EXPECT_THAT(left(half + "xor.b32 %r1, %r2, 0xffff0000;"), IsUnwritten());
  EXPECT_THAT(left(half + "xor.b32 %r1, %r2, %r2;"), IsWritten()) << "zero, whatever it was";
  EXPECT_THAT(left(half + "not.b32 %r1, %r2; and.b32 %r1, %r1, 1;"), IsWritten());
}

TEST(Bits, are_dropped_where_both_operands_together_say_so) {
  // (a & b) | (~a & c): a chooses.
  const std::string choice = "mov.u32 %r4, 0xffff; lop3.b32 %r1, %r4, ";
  EXPECT_THAT(left(half + choice + "%r2, %t, 0xca;"), IsWritten());
  EXPECT_THAT(left(half + choice + "%t, %r2, 0xca;"), IsUnwritten());
}

TEST(Bits, move_with_shifts) {
  EXPECT_THAT(left(half + "shl.b32 %r1, %r2, 16;"), IsWritten());
  EXPECT_THAT(left(half + "shl.b32 %r1, %r2, 15;"), IsUnwritten());
  EXPECT_THAT(left(half + "shr.u32 %r1, %r2, 16;"), IsUnwritten());
  EXPECT_THAT(left(half + "shl.b32 %r4, %r2, 16; shr.u32 %r1, %r4, 3;"), IsWritten());
  EXPECT_THAT(left(half + "shr.s32 %r4, %r2, 8; and.b32 %r1, %r4, 0xff;"), IsWritten());
  EXPECT_THAT(left(half + "shf.l.wrap.b32 %r1, %r2, %r3, 16;"), IsUnwritten());
  EXPECT_THAT(left(half + "shf.r.wrap.b32 %r4, %t, %r2, 16; mov.b32 %r1, %r4;"), IsWritten());
  EXPECT_THAT(left(half + "and.b32 %r4, %r3, 1; shl.b32 %r4, %t, %r4; and.b32 %r1, %r4, 0;"),
              IsWritten());
  EXPECT_THAT(left(half + "and.b32 %r4, %r3, 1; shl.b32 %r1, %t, %r4;"), IsUnwritten())
      << "by how far, nobody wrote";
}

TEST(Bits, move_by_bytes_and_fields) {
  EXPECT_THAT(left(half + "prmt.b32 %r1, %r2, %t, 0x5410;"), IsWritten());
  EXPECT_THAT(left(half + "prmt.b32 %r1, %r2, %t, 0x5420;"), IsUnwritten());
  EXPECT_THAT(left(half + "prmt.b32 %r1, %r2, %t, 0x9999;"), IsWritten()) << "a sign that is";
  EXPECT_THAT(left(half + "bfe.u32 %r1, %r2, 4, 12;"), IsWritten());
  EXPECT_THAT(left(half + "bfe.u32 %r1, %r2, 5, 12;"), IsUnwritten());
  EXPECT_THAT(left(half + "bfi.b32 %r1, %t, %r2, 16, 16;"), IsWritten());
  EXPECT_THAT(left(half + "bfi.b32 %r1, %t, %r2, 17, 15;"), IsUnwritten());
  EXPECT_THAT(left(half + "brev.b32 %r4, %r2; shr.u32 %r1, %r4, 16;"), IsWritten());
}

TEST(Bits, move_with_conversions_and_packing) {
  EXPECT_THAT(left(half + "cvt.u16.u32 %r4, %r2; cvt.u32.u16 %r1, %r4;"), IsWritten());
  EXPECT_THAT(left(half + "cvt.s32.s8 %r1, %r2;"), IsWritten());
  EXPECT_THAT(left(half + "cvt.u64.u32 %rd1, %r2; shl.b64 %rd1, %rd1, 48; shr.u64 %rd1, %rd1, 40;"
                          "cvt.u32.u64 %r1, %rd1;"),
              IsWritten());
  EXPECT_THAT(left(half + "mov.b64 %rd1, {%r3, %t}; mov.b64 {%r4, %r1}, %rd1;"), IsWritten());
  EXPECT_THAT(left(half + "mov.b64 %rd1, {%t, %r3}; mov.b64 {%r4, %r1}, %rd1;"), IsUnwritten());
}

TEST(Bits, below_the_first_that_is_unwritten_are_sums) {
  const std::string low = "and.b32 %r1, %r4, 0xffff;";
  EXPECT_THAT(left(half + "add.u32 %r4, %r2, 9;" + low), IsWritten());
  EXPECT_THAT(left(half + "mul.lo.u32 %r4, %r2, 9;" + low), IsWritten());
  EXPECT_THAT(left(half + "mad.lo.u32 %r4, %r2, 9, %t;" + low), IsWritten());
  EXPECT_THAT(left(half + "mul.hi.u32 %r4, %r2, 9;" + low), IsUnwritten());
  // Nothing is carried into the upper half, nor out of bit 24.
  const std::string few = "and.b32 %r4, %r3, 0x00ff00;";
  EXPECT_THAT(left(half + few + "add.u32 %r1, %r4, 0x70000; shr.u32 %r1, %r1, 16;"), IsWritten());
  EXPECT_THAT(left(half + few + "add.u32 %r1, %r4, 0xff00; shr.u32 %r1, %r1, 16;"), IsUnwritten());
  EXPECT_THAT(left(half + few + "sub.u32 %r1, 0x70000, %r4; shr.u32 %r1, %r1, 16;"), IsUnwritten());
  EXPECT_THAT(left(half + few + "sub.u32 %r1, 0x7ff00, %r4; shr.u32 %r1, %r1, 16;"), IsWritten());
}

TEST(Bits, are_compared_where_those_written_settle_it) {
  const auto decided = [](const std::string& test) {
    return text_of(WrittenKernel(half + test + "@%p1 bra $x; $x:").run(1));
  };
  EXPECT_THAT(decided("setp.eq.u32 %p1, %r2, 8;"), IsWritten()) << "the low halves differ";
  EXPECT_THAT(decided("setp.ne.u32 %p1, %r2, 7;"), IsUnwritten());
  EXPECT_THAT(decided("setp.eq.u16 %p1, %r2, 7;"), IsWritten()) << "no more is compared";
  EXPECT_THAT(decided("shl.b32 %r4, %r2, 16; or.b32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, 0;"),
              IsWritten());
  const std::string top = "shr.u32 %r4, %r3, 16; or.b32 %r4, %r4, 0x50000;";
  EXPECT_THAT(decided(top + "setp.lt.u32 %p1, %r4, 0x60000;"), IsWritten());
  EXPECT_THAT(decided(top + "setp.lt.u32 %p1, %r4, 0x51000;"), IsUnwritten());
  EXPECT_THAT(decided("and.b32 %r4, %r3, 0x80000000; setp.lt.s32 %p1, %r4, 0;"), IsUnwritten());
  EXPECT_THAT(decided("and.b32 %r4, %r3, 0x80000000; setp.gt.s32 %p1, %r4, 1;"), IsWritten());
}

TEST(Bits, of_predicates_are_settled_by_others) {
  const std::string no = "setp.eq.u32 %p1, %r3, 5; setp.eq.u32 %p2, %t, 5;";  // %p2: not true
  const std::string then = "@%p3 bra $x; $x:";
  EXPECT_THAT(text_of(WrittenKernel(half + no + "and.pred %p3, %p1, %p2;" + then).run(1)),
              IsWritten());
  EXPECT_THAT(text_of(WrittenKernel(half + no + "or.pred %p3, %p1, %p2;" + then).run(1)),
              IsUnwritten());
  EXPECT_THAT(left(half + no + "selp.b32 %r1, 3, 3, %p1;"), IsWritten()) << "either way";
  EXPECT_THAT(left(half + no + "selp.b32 %r1, 3, 2, %p1;"), IsUnwritten());
  EXPECT_THAT(left(half + no + "selp.b32 %r4, 3, 2, %p1; and.b32 %r1, %r4, 2;"), IsWritten());
}

// Lane t has %r4 from word t, of which the first eight are written, and %p1: whether that is 5.
const std::string lanes =
    "mov.u32 %r9, tile; shl.b32 %r2, %t, 2; add.s32 %r3, %r9, %r2; setp.lt.u32 %p9, %t, 8;"
    "@%p9 st.shared.u32 [%r3], 5; bar.warp.sync -1; ld.shared.u32 %r4, [%r3];"
    "setp.eq.u32 %p1, %r4, 5;";

TEST(Bits, of_a_vote_are_one_for_each_lane) {
  const std::string vote = "vote.sync.ballot.b32 %r5, %p1, -1;";
  EXPECT_THAT(left(lanes + vote + "and.b32 %r1, %r5, 0xff;", 32), IsWritten());
  EXPECT_THAT(left(lanes + vote + "and.b32 %r1, %r5, 0x1ff;", 32), IsUnwritten());
  EXPECT_THAT(left(lanes + vote + "and.b32 %r1, %r5, 0x1ff;", 32), HasSubstr("word 8 of tile"));
  const auto decided = [](const std::string& mode) {
    const std::string then = "@%p2 bra $x; $x:";
    return text_of(
        WrittenKernel(lanes + "vote.sync." + mode + ".pred %p2, %p1, -1;" + then).run(32));
  };
  EXPECT_THAT(decided("any"), IsWritten()) << "lane 0 says so";
  EXPECT_THAT(decided("all"), IsUnwritten());
  EXPECT_THAT(decided("uni"), IsUnwritten());
}

TEST(Bits, go_to_other_lanes) {
  EXPECT_THAT(left(lanes + "shfl.sync.idx.b32 %r1, %r4, 7, 31, -1;", 32), IsWritten());
  EXPECT_THAT(left(lanes + "shfl.sync.idx.b32 %r1, %r4, 9, 31, -1;", 32),
              HasSubstr("thread (0,0,0) of block (0,0,0) leaves in memory a value that nobody "
                        "wrote: word 9 of tile"));
  EXPECT_THAT(left(lanes + "shfl.sync.idx.b32 %r4, %r4, 9, 31, -1; and.b32 %r1, %r4, 0;", 32),
              IsWritten());
  const std::string bits = "and.b32 %r5, %r4, 0xff00; or.b32 %r5, %r5, 5;";
  EXPECT_THAT(left(lanes + bits + "redux.sync.or.b32 %r5, %r5, -1; and.b32 %r1, %r5, 0xff;", 32),
              IsWritten());
  EXPECT_THAT(left(lanes + bits + "redux.sync.or.b32 %r5, %r5, -1; and.b32 %r1, %r5, 0x100;", 32),
              IsUnwritten());
  EXPECT_THAT(left(lanes + bits + "redux.sync.add.u32 %r5, %r5, -1; and.b32 %r1, %r5, 1;", 32),
              IsUnwritten());
  const std::string match = "match.any.sync.b32 %r5, %r4, -1; mov.u32 %r1, 0;";
  EXPECT_THAT(left(lanes + match + "@%p9 and.b32 %r1, %r5, 0xff;", 32), IsWritten());
  EXPECT_THAT(left(lanes + match + "@%p9 and.b32 %r1, %r5, 0x100;", 32), IsUnwritten());
}

TEST(Bits, wait_for_lanes_that_come_later) {
  const std::string stay_behind = "ld.volatile.shared.u32 %r6, [%r9];";
  const std::string swap = "shfl.sync.bfly.b32 %r4, %r4, 16, 31, -1;";
  const std::string last = "mov.u32 %r1, 0; setp.gt.u32 %p8, %t, 23; @%p8 mov.u32 %r1, %r4;";
  for (const Settings& settings : all_orders()) {
    const auto found = [&](const std::string& then) {
      return text_of(WrittenKernel(lanes + stay_behind + then + store_r1).run(32, settings));
    };
    EXPECT_THAT(found(swap + swap + "mov.u32 %r1, 0; @%p9 mov.u32 %r1, %r4;"), IsWritten());
    EXPECT_THAT(found(swap + swap + last), IsUnwritten());
  }
}

TEST(Bits, are_kept_by_memory) {
  const std::string some = half + "and.b32 %r4, %r3, 0xf000;";
  for (const std::string space : {"shared", "local"}) {
    const std::string own = ".local .align 8 .b8 own[32];";
    const std::string base = space == "shared" ? "mov.u32 %r8, tile;" : "mov.u32 %r8, own;";
    const std::string kept = own + some + base + "st." + space + ".u32 [%r8+16], %r4; ld." + space +
                             ".u32 %r5, [%r8+16];";
    EXPECT_THAT(left(kept + "mov.u32 %r1, %r5;"), IsUnwritten());
    EXPECT_THAT(left(kept + "and.b32 %r1, %r5, 0xffff0fff;"), IsWritten());
    EXPECT_THAT(left(kept + "and.b32 %r1, %r5, 0x1000;"), IsUnwritten());
    const std::string byte = "ld." + space + ".u8 %r1, [%r8+";
    EXPECT_THAT(left(kept + byte + "16];"), IsWritten());
    EXPECT_THAT(left(kept + byte + "17];"), IsUnwritten());
    EXPECT_THAT(
        left(kept + "st." + space + ".u8 [%r8+17], %t;" + "ld." + space + ".u32 %r1, [%r8+16];"),
        IsWritten());
    const std::string low = own + half + base + "st." + space + ".u16 [%r8+16], %r2;";
    EXPECT_THAT(left(low + "ld." + space + ".u16 %r1, [%r8+16];"), IsWritten());
    EXPECT_THAT(left(low + "ld." + space + ".u32 %r1, [%r8+16];"), IsUnwritten());
    const std::string pair = own + half + base + "st." + space + ".v2.u32 [%r8+16], {%t, %r2};";
    EXPECT_THAT(left(pair + "ld." + space + ".v2.u32 {%r1, %r5}, [%r8+16];"), IsWritten());
    EXPECT_THAT(left(pair + "ld." + space + ".v2.u32 {%r5, %r1}, [%r8+16];"), IsUnwritten());
  }
}

TEST(Bits, that_are_stored_are_looked_at) {
  const auto found = [](const std::string& store) {
    return text_of(WrittenKernel(half + store).run(1));
  };
  EXPECT_THAT(found("st.global.u16 [%out], %r2;"), IsWritten());
  EXPECT_THAT(found("st.global.u32 [%out], %r2;"), IsUnwritten());
  EXPECT_THAT(found("shr.u32 %r4, %r2, 1; st.global.u16 [%out], %r4;"), IsUnwritten());
  EXPECT_THAT(found("shr.u32 %r4, %r2, 1; st.global.u8 [%out], %r4;"), IsWritten());
}

TEST(Bits, are_kept_where_generic_addresses_say) {
  const std::string kept =
      half +
      "cvt.u64.u32 %rd1, %r9; cvta.shared.u64 %rd1, %rd1; st.u32 [%rd1+16], %r2; ld.u32 %r4, "
      "[%rd1+16];";
  EXPECT_THAT(left(kept + "and.b32 %r1, %r4, 0xffff;"), IsWritten());
  EXPECT_THAT(left(kept + "mov.u32 %r1, %r4;"), IsUnwritten());
}

TEST(Bits, of_two_halves_are_computed_with_apart) {
  const std::string sum = half + "add.f16x2 %r4, %r2, %r2;";
  EXPECT_THAT(left(sum + "and.b32 %r1, %r4, 0xffff;"), IsWritten());
  EXPECT_THAT(left(sum + "and.b32 %r1, %r4, 0xff0000;"), IsUnwritten());
  EXPECT_THAT(left(half + "add.f32 %f1, %f2, 0f00000000; mov.b32 %r4, %f1; and.b32 %r1, %r4, 1;"),
              IsUnwritten());
}

TEST(Bits, of_matrices_are_those_of_their_elements) {
  // Row i of the tile has 16 bytes; of each word the low half is written.
  const std::string rows =
      "mov.u32 %r9, tile; shl.b32 %r2, %t, 4; add.s32 %r3, %r9, %r2; st.shared.u16 [%r3], 1;"
      "st.shared.u16 [%r3+4], 2; st.shared.u16 [%r3+8], 3; st.shared.u16 [%r3+12], 4;"
      "bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];";
  EXPECT_THAT(left(rows + "and.b32 %r1, %r4, 0xffff;", 32), IsWritten());
  EXPECT_THAT(left(rows + "mov.u32 %r1, %r4;", 32), IsUnwritten());
  EXPECT_THAT(left(rows + "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r4; mov.u32 %r1, 0;"
                          "shr.u32 %r5, %t, 2; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0;"
                          "@%p1 mov.u32 %r1, %r4;",
                   32),
              IsWritten())
      << "even columns, which are rows now, were written";
}

// Estimates of what a case costs go by it: a register that is set under a condition is no reason to
// take a kernel for dear.
TEST(Bits, are_followed_at_little_cost_where_all_operands_are_written) {
  const auto time_of = [](const std::string& in_loop) {
    WrittenKernel kernel("mov.u32 %r1, %r2; mov.u32 %r3, 0; $loop: " + in_loop +
                         "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 1000; @%p1 bra $loop;");
    return kernel.run(32).extra_time;
  };
  EXPECT_LT(time_of("add.s32 %r4, %r3, 7;"), 2 * 4 * 1000u);
  EXPECT_GT(time_of("add.s32 %r4, %r1, 7;"), 10 * 1000u);
}

}  // namespace
}  // namespace ptx::tests
