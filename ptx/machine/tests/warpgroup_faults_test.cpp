// Products of warpgroups: what may go wrong around them, and their twins in which nothing does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/warpgroup_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A of 64 x 16 at byte 0 of `big`, B of 16 x 8 behind it, of bf16.
const Placing tight_a{1, false, 1024, 128}, tight_b{1, false, 128, 128};
constexpr int bytes_of_a = 2048, words_of_both = 512 + 64;

const std::string start = "{ .reg .b32 %s<8>; .reg .f32 %x<8>; .reg .b32 %a<4>;\n";
const std::string load = copy_to_big(words_of_both);
const std::string describe = descriptor_of(10, tight_a, 0) + descriptor_of(11, tight_b, bytes_of_a);
const std::string clear =
    "mov.b32 %s0, 0; mov.b32 %s1, 0; mov.b32 %s2, 0; mov.b32 %s3, 0;\n"
    "mov.b32 %s4, 0; mov.b32 %s5, 0; mov.b32 %s6, 0; mov.b32 %s7, 0;\n"
    "mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0; setp.eq.u32 %p2, 0, 0;\n";
const std::string fence = "wgmma.fence.sync.aligned;\n";
const std::string multiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%s0, %s1, %s2, %s3}, %rd10, %rd11, %p2, "
    "1, 1, 0, 0;\n";
const std::string multiply_other =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%s4, %s5, %s6, %s7}, %rd10, %rd11, %p2, "
    "1, 1, 0, 0;\n";
const std::string multiply_registers =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%s0, %s1, %s2, %s3}, {%a0, %a1, %a2, "
    "%a3}, %rd11, %p2, 1, 1, 0;\n";
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int groups) { return fmt::format("wgmma.wait_group.sync.aligned {};\n", groups); }
const std::string store = store_sums_at(words_of_both, 4, "b32");

std::string found(const std::string& body, unsigned threads, const Settings& settings) {
  WrittenKernel kernel(start + body + "}\n", big_array);
  kernel.words.assign(words_of_both + 8 * 128, 0x3f803f80);
  return text_of(kernel.run(threads, settings));
}
template <class Matcher>
void expect(const std::string& body, const Matcher& matcher, unsigned threads = threads_of_group) {
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found(body, threads, settings), matcher) << body;
}
void expect_right(const std::string& body, unsigned threads = threads_of_group) {
  expect(body, testing::Eq(""), threads);
}
const auto race = [](const char* text) { return AllOf(StartsWith("data race"), HasSubstr(text)); };
constexpr const char* lacks_wait = "a wgmma.wait_group for it is missing";

TEST(WgmmaFaults, are_none_where_all_is_in_order) {
  expect_right(load + describe + clear + fence + multiply + commit + wait(0) + store);
  expect_right(load + describe + clear + fence + multiply + multiply + commit + wait(0) + store);
  expect_right(load + describe + clear + fence + multiply_registers + commit + wait(0) + store);
}

TEST(WgmmaFaults, words_are_written_before_the_wait) {
  const std::string write = "st.shared.u32 [%r20+64], 5;\n";
  expect(load + describe + clear + fence + multiply + commit + write + wait(0) + store,
         race("which a wgmma read"));
  expect(load + describe + clear + fence + multiply + commit + write + wait(0) + store,
         race(lacks_wait));
  const std::string in_warp_2 = "setp.ne.u32 %p3, %t, 64; @%p3 bra OVER; " + write + "OVER:\n";
  const std::string all = load + describe + clear + fence + multiply + commit + wait(0) + store;
  expect_right(all + in_warp_2);
  expect_right(all + "bar.sync 0;\n" + in_warp_2);
  expect(
      load + describe + clear + fence + multiply + commit + wait(1) + in_warp_2 + wait(0) + store,
      race(lacks_wait));
}

// The warp behind the four writes once one thread of these says that it may.
std::string written_by_another_warp(const std::string& before_arrival, const std::string& behind) {
  return ".shared .align 8 .b64 bar;\nsetp.ne.u32 %p4, %t, 0; @%p4 bra INIT;\n"
         "mbarrier.init.shared.b64 [bar], 1; INIT:\n" +
         load.substr(0, load.find("add.u32 %r1, %r1, 128")) + "add.u32 %r1, %r1, 160;" +
         load.substr(load.find(" bra COPY;")) + describe + clear +
         "setp.ge.u32 %p5, %t, 128; @%p5 bra WRITER;\n" + fence + multiply + commit +
         before_arrival + "@%p4 bra ARRIVED; mbarrier.arrive.shared.b64 %rd20, [bar]; ARRIVED:\n" +
         behind + store + "bra END;\n" +
         "WRITER: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra WRITER;\n"
         "setp.ne.u32 %p7, %t, 130; @%p7 bra END; st.shared.u32 [%r20+64], 5;\nEND:\n";
}
TEST(WgmmaFaults, one_warp_waits_for_all_four) {
  expect_right(written_by_another_warp(wait(0), ""), 160);
  expect(written_by_another_warp("", wait(0)), race("a wgmma read"), 160);
}

TEST(WgmmaFaults, two_warpgroups_read_the_same_words) {
  // Threads 256 and on write once the first of each warpgroup has arrived.
  const auto body = [](int arrivals) {
    std::string text = written_by_another_warp(wait(0), "");
    const auto replace = [&](const std::string& from, const std::string& to) {
      text.replace(text.find(from), from.size(), to);
    };
    replace("[bar], 1;", fmt::format("[bar], {};", arrivals));
    replace("add.u32 %r1, %r1, 160;", "add.u32 %r1, %r1, 288;");
    replace("%p5, %t, 128;", "%p5, %t, 256;");
    replace("%t, 130;", "%t, 260;");
    replace("@%p4 bra ARRIVED;", arrivals == 2
                                     ? "and.b32 %r8, %t, 127; setp.ne.u32 %p4, %r8, 0; @%p4 bra "
                                       "ARRIVED;"
                                     : "@%p4 bra ARRIVED;");
    return text.substr(0, text.find("mul.lo.u32 %r1, %t, 4")) + text.substr(text.find("bra END;"));
  };
  expect_right(body(2), 288);
  expect(body(1), race("a wgmma read"), 288);
}

TEST(WgmmaFaults, words_are_not_fenced) {
  const std::string fence_of_proxy = "fence.proxy.async.shared::cta;";
  std::string without = load;
  without.erase(without.find(fence_of_proxy), fence_of_proxy.size());
  expect(without + describe + clear + fence + multiply + commit + wait(0) + store,
         race("for a wgmma"));
  expect(without + describe + clear + fence + multiply + commit + wait(0) + store,
         race("no fence.proxy.async lies between the two"));
  std::string unordered = load;
  unordered.erase(unordered.find("bar.sync 0;"), 11);
  expect(unordered + describe + clear + fence + multiply + commit + wait(0) + store,
         race("a barrier is missing"));
}

TEST(WgmmaFaults, registers_are_touched_before_the_wait) {
  const auto with = [](const std::string& between, const std::string& product = multiply) {
    return load + describe + clear + fence + product + commit + between + wait(0) + store;
  };
  expect(with("add.u32 %r9, %s1, 1;\n"), race("reads a register"));
  expect(with("add.u32 %r9, %s1, 1;\n"), race(lacks_wait));
  expect(with("st.global.b32 [%out], %s3;\n"), race("reads a register"));
  expect(with("add.u32 %s2, %r1, 1;\n"), race("writes a register"));
  expect(with("mov.b32 %s2, 0;\n"), race("writes a register"));
  expect(with("add.u32 %a2, %r1, 1;\n", multiply_registers), race("reads on its own time"));
  expect_right(with("add.u32 %a2, %r1, 1;\n"));
  expect_right(with("add.u32 %r9, %a2, 1;\n", multiply_registers));
}

TEST(WgmmaFaults, registers_are_moved_before_the_wait) {
  const std::string head = load + describe + clear + fence + multiply + commit;
  const std::string use = "add.u32 %r9, %r8, 1;\n";
  expect_right(head + "mov.b32 %r8, %s1;\n" + wait(0) + use + store);
  expect(head + "mov.b32 %r8, %s1;\n" + use + wait(0) + store, race("reads a register"));
  expect_right(head + "mov.b32 %r8, %s1; mov.b32 %s1, %r8;\n" + wait(0) + store);
}

TEST(WgmmaFaults, registers_are_not_fenced) {
  const std::string head = load + describe + clear;
  const std::string write = "cvt.rn.f32.u32 %x0, %t; mov.b32 %s0, %x0;\n";
  expect(head + multiply + commit + wait(0) + store, race("no wgmma.fence comes before it"));
  expect(head + fence + write + multiply + commit + wait(0) + store,
         race("and no wgmma.fence lies between the two"));
  expect_right(head + write + fence + multiply + commit + wait(0) + store);
  expect(head + fence + "ld.global.b32 %a1, [%out];\n" + multiply_registers + commit + wait(0),
         race("with a register that it wrote"));
  const std::string twice = head + fence + multiply + commit + wait(0) + "add.u32 %s0, %s0, 0;\n";
  expect(twice + multiply + commit + wait(0) + store, race("no wgmma.fence lies between"));
  expect_right(twice + fence + multiply + commit + wait(0) + store);
}

// A read is an access, too.
TEST(WgmmaFaults, registers_that_were_read_are_not_fenced) {
  const std::string head = load + describe + clear + fence;
  const std::string read = head + multiply + commit + wait(0) + "add.u32 %r9, %s1, 1;\n";
  const std::string again = multiply + commit + wait(0) + store;
  expect(read + again, race("with a register that it read"));
  expect_right(read + fence + again);
  expect_right(head + multiply + commit + wait(0) + again);
  const std::string moved =
      head + multiply + commit + wait(0) + "add.u32 %r9, %s1, 1; mov.b32 %s1, 0;\n";
  expect_right(moved + again);
  expect_right(head + multiply_registers + commit + wait(0) + "add.u32 %r9, %a2, 1;\n" +
               multiply_registers + commit + wait(0));
}

TEST(WgmmaFaults, groups_are_waited_for_one_by_one) {
  const std::string two =
      load + describe + clear + fence + multiply + commit + multiply_other + commit;
  expect_right(two + wait(1) + "add.u32 %r9, %s1, 1;\n" + wait(0));
  expect(two + wait(1) + "add.u32 %r9, %s5, 1;\n" + wait(0), race("reads a register"));
  expect(load + describe + clear + fence + multiply + wait(0) + store, race("reads a register"));
}

TEST(WgmmaFaults, nobody_wrote_what_is_multiplied) {
  const std::string only_a =
      copy_to_big(512) + describe + clear + fence + multiply + commit + wait(0);
  expect(only_a + store, HasSubstr("leaves in memory a value that nobody wrote: word"));
  expect_right(only_a);
  const std::string not_c =
      load + describe + "setp.ne.u32 %p2, 0, 0;\n" + fence + multiply + commit + wait(0) + store;
  expect_right(not_c);
  const std::string unset_scale =
      "ld.shared.u32 %r8, [%r20+8192]; setp.eq.u32 %p2, %r8, 0;\n" + fence + multiply + commit;
  expect(load + describe + clear + unset_scale + wait(0) + store,
         HasSubstr("leaves in memory a value that nobody wrote"));
}

TEST(WgmmaFaults, a_warp_does_not_take_part) {
  const std::string skip = "setp.ge.u32 %p3, %t, 96; @%p3 bra OVER;\n";
  expect(load + describe + clear + skip + fence + multiply + commit + wait(0) + store + "OVER:\n",
         AllOf(StartsWith("barrier not reached"), HasSubstr("and warp 3 of its four never does")));
  expect(load + describe + clear + fence + skip + multiply + commit + wait(0) + store +
             "bra END; OVER: " + multiply + commit + wait(0) + store + "END:\n",
         HasSubstr("warps of one warpgroup execute two different wgmma"));
  expect(load + describe + clear + fence + multiply + commit + wait(0) + store,
         AllOf(StartsWith("trap"), HasSubstr("in a warpgroup of less than four whole warps")), 96);
}

TEST(WgmmaFaults, descriptors_are_wrong) {
  const auto with = [](const std::string& change) {
    return load + describe + change + clear + fence + multiply + commit + wait(0);
  };
  expect(with("or.b64 %rd11, %rd11, 0x3ff0;\n"),
         AllOf(StartsWith("bad address"), HasSubstr("bytes of shared memory")));
  expect(with("cvt.u64.u32 %rd12, %t; and.b64 %rd12, %rd12, 1; add.s64 %rd11, %rd11, %rd12;\n"),
         HasSubstr("not the same in all lanes"));
  expect(with("shr.u32 %r8, %t, 5; cvt.u64.u32 %rd12, %r8; add.s64 %rd10, %rd10, %rd12;\n"),
         HasSubstr("with other descriptors than another warp"));
}

}  // namespace
}  // namespace ptx::tests
