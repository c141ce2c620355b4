// Bulk copies from shared to global memory: when what they write is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Each block writes 16 bytes of its own by a bulk copy, which `wait` then waits for.
std::string store(const std::string& wait) {
  return R"(
mov.u32 %r9, tile; mov.u32 %r1, %ctaid.x; add.s32 %r2, %r1, 7; mul.wide.u32 %rd1, %r1, 16;
add.s64 %rd2, %out, %rd1; setp.ne.u32 %p2, %t, 0; @%p2 bra $copied;
st.shared.v4.u32 [%r9], {%r2, %r2, %r2, %r2}; fence.proxy.async.shared::cta;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 16; cp.async.bulk.commit_group;
)" + wait +
         "$copied:";
}
const std::string until_read = "cp.async.bulk.wait_group.read 0;",
                  until_written = "cp.async.bulk.wait_group 0;";

// The last block to take a ticket adds up what all of them have written.
std::string found_by_last_block(const std::string& wait) {
  std::string text;
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(store(wait) + R"(
membar.gl; atom.global.add.u32 %r3, [%out+400], 1; membar.gl;
setp.ne.u32 %p1, %r3, 2; @%p1 bra $done;
ld.global.u32 %r4, [%out]; ld.global.u32 %r5, [%out+16]; ld.global.u32 %r6, [%out+32];
add.s32 %r4, %r4, %r5; add.s32 %r4, %r4, %r6; st.global.u32 [%out+404], %r4;
$done:
)" + until_read);
    text = text_of(kernel.run(1, settings, 3));
    if (text.empty()) {
      EXPECT_EQ(kernel.words[101], 24u);
    }
  }
  return text;
}

const auto is_missing =
    AllOf(HasSubstr("nothing orders the two"), HasSubstr("cp.async.bulk.wait_group without .read"));

TEST(BulkPrefetch, takes_multiples_of_16_bytes) {
  const auto found = [](const std::string& from_and_bytes) {
    return text_of(WrittenKernel("mov.u32 %r1, 32; mov.u32 %r2, 24;"
                                 "cp.async.bulk.prefetch.L2.global " +
                                 from_and_bytes + ";")
                       .run(1));
  };
  EXPECT_EQ(found("[%out+16], %r1"), "");
  EXPECT_THAT(found("[%out+4], %r1"), HasSubstr("from 4 bytes past a boundary"));
  EXPECT_THAT(found("[%out], %r2"), HasSubstr("prefetches 24 bytes"));
}

// Copies are of another proxy than the thread that initialises their barrier.
TEST(BulkCopy, signals_an_mbarrier_that_was_fenced) {
  const auto found = [](const std::string& by_maker, const std::string& by_copier,
                        const std::string& place = "") {
    const std::string body = R"(
mov.u32 %r9, tile; add.u32 %r8, %r9, 1024; setp.ne.u32 %p1, %t, 40; setp.ne.u32 %p3, %t, 0;
@%p1 bra $made; mbarrier.init.shared.b64 [%r8], 1;
)" + by_maker + R"(
$made: bar.sync 0; @%p3 bra $copied;
)" + by_copier + R"(
mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r8], 128;
)" + place + R"(
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%out], 128, [%r8];
$copied: bar.sync 0; $again: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0; @!%p2 bra $again;
)";
    const std::string files =
        ".file 1 \"/usr/include/cuda/__memcpy_async/copy.h\"\n.file 2 \"copy.h\"\n";
    return text_of(WrittenKernel(body, files).run(64));
  };
  const auto missing = HasSubstr("which thread (40,0,0) of block (0,0,0) initialised");
  EXPECT_THAT(found("", ""), AllOf(StartsWith("data race"), missing));
  EXPECT_THAT(found("fence.acq_rel.cta;", "membar.cta;"), missing);
  EXPECT_EQ(found("fence.mbarrier_init.release.cluster;", ""), "");
  EXPECT_EQ(found("fence.proxy.async.shared::cta;", ""), "");
  EXPECT_EQ(found("", "fence.proxy.async;"), "") << "the barrier of the block came before";
  EXPECT_THAT(found("", "", ".loc 2 7 0\n"), missing);
  EXPECT_EQ(found("", "", ".loc 1 7 0\n"), "") << "libcu++ has no such fence";
}

// What is fenced is what was written before.
TEST(BulkCopy, reads_global_memory_that_was_fenced_after_it_was_written) {
  const auto found = [](const std::string& before, const std::string& after) {
    const std::string body = R"(
mov.u32 %r9, tile; add.u32 %r8, %r9, 1024; setp.ne.u32 %p1, %t, 0; mul.wide.u32 %rd1, %t, 4;
add.s64 %rd2, %out, %rd1; @%p1 bra $made; mbarrier.init.shared.b64 [%r8], 1; fence.mbarrier_init.release.cluster;
)" + before + R"(
$made: bar.sync 0; st.global.u32 [%rd2], %t;
)" + after + R"(
bar.sync 0; @%p1 bra $copied; mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r8], 128;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%out], 128, [%r8];
$copied: bar.sync 0; $again: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0; @!%p2 bra $again;
)";
    return text_of(WrittenKernel(body).run(32));
  };
  const auto missing = HasSubstr("no fence.proxy.async lies between the two");
  EXPECT_THAT(found("", ""), missing);
  EXPECT_THAT(found("fence.proxy.async;", ""), missing);
  EXPECT_EQ(found("fence.proxy.async;", "fence.proxy.async;"), "");
  EXPECT_EQ(found("", "fence.proxy.async.global;"), "");
}

// The fourth block waits for what the others write, and copies it: none of it is its own.
TEST(BulkCopy, reads_what_other_blocks_wrote_once_somebody_has_fenced_it) {
  const auto found = [](const std::string& by_all_before, const std::string& by_writers,
                        const std::string& by_reader) {
    const std::string body = R"(
mov.u32 %r9, tile; add.u32 %r8, %r9, 1024; setp.ne.u32 %p1, %t, 0; @%p1 bra $done;
mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 16; add.s64 %rd2, %out, %rd1;
mbarrier.init.shared.b64 [%r8], 1; fence.mbarrier_init.release.cluster;
)" + by_all_before + R"(
setp.eq.u32 %p2, %r1, 3; @%p2 bra $wait; st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};
)" + by_writers + R"(
membar.gl; atom.global.add.u32 %r3, [%out+400], 1; bra.uni $done;
$wait: ld.acquire.gpu.global.u32 %r3, [%out+400]; setp.ne.u32 %p2, %r3, 3; @%p2 bra $wait;
)" + by_reader + R"(
mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r8], 48;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%out], 48, [%r8];
$again: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0; @!%p2 bra $again;
$done:
)";
    std::string all;
    for (const Settings& settings : all_orders())
      all += text_of(WrittenKernel(body).run(32, settings, 4));
    return all;
  };
  const std::string fence = "fence.proxy.async;";
  const auto missing = HasSubstr("no fence.proxy.async lies between the two");
  EXPECT_THAT(found("", "", ""), missing);
  EXPECT_THAT(found(fence, "", ""), missing) << "before anything was written";
  EXPECT_EQ(found("", fence, ""), "");
  EXPECT_EQ(found("", "", fence), "");
  EXPECT_EQ(found(fence, "", fence), "");
}

TEST(BulkStore, is_told_to_other_blocks_once_it_was_waited_for) {
  EXPECT_EQ(found_by_last_block(until_written), "");
  EXPECT_EQ(found_by_last_block(until_read + until_written), "");
  EXPECT_THAT(found_by_last_block(until_read), is_missing);
  EXPECT_THAT(found_by_last_block(until_read + "fence.proxy.async;"), is_missing);
  EXPECT_THAT(found_by_last_block(""), is_missing);
}

TEST(BulkStore, is_waited_for_by_its_group) {
  const std::string another =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd2+512], [%r9], 16;"
      "cp.async.bulk.commit_group;";
  EXPECT_EQ(found_by_last_block(another + "cp.async.bulk.wait_group 1;"), "");
  EXPECT_EQ(found_by_last_block(another + until_read + "cp.async.bulk.wait_group 1;"), "")
      << "what was read is still under way";
  EXPECT_THAT(found_by_last_block(another + "cp.async.bulk.wait_group 2;"), is_missing);
}

TEST(BulkStore, has_read_before_its_thread_ends) {
  const auto found = [](const std::string& wait) {
    return text_of(WrittenKernel(store(wait)).run(32));
  };
  EXPECT_EQ(found(until_read), "");
  EXPECT_THAT(found(""),
              HasSubstr("thread (0,0,0) of block (0,0,0) ends, and its bulk copy may not "
                        "have read word 0 of tile yet"));
  const std::string another = "cp.async.bulk.global.shared::cta.bulk_group [%rd2+512], [%r9], 16;";
  EXPECT_THAT(found(until_read + another), HasSubstr("ends, and its bulk copy")) << "uncommitted";
  EXPECT_THAT(found(another + "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;"),
              HasSubstr("ends, and its bulk copy"));
}

TEST(BulkStore, is_in_flight_for_its_own_block_too) {
  const auto found = [](const std::string& then) { return text_of(WrittenKernel(then).run(32)); };
  const std::string read = "ld.global.u32 %r3, [%rd2+4];", overwrite = "st.global.u32 [%rd2], %t;";
  EXPECT_EQ(found(store(until_written) + "bar.sync 0;" + read), "");
  EXPECT_EQ(found(store(until_written + overwrite)), "");
  EXPECT_THAT(found(store(until_read) + "bar.sync 0;" + read), is_missing);
  EXPECT_THAT(found(store(until_read + overwrite)),
              AllOf(HasSubstr("which an asynchronous copy wrote"), is_missing));
  EXPECT_EQ(found(store(until_read) + "bar.sync 0; ld.global.u32 %r3, [%rd2+16];"), "")
      << "beside it";
}

TEST(BulkStore, is_one_copy_if_all_lanes_of_a_warp_say_the_same) {
  const auto found = [](const std::string& address) {
    const std::string text = "mov.u32 %r9, tile; mov.u64 %rd2, %out; mul.wide.u32 %rd3, %t, 4;" +
                             address +
                             "setp.ne.u32 %p1, %t, 0; @%p1 bra $filled;"
                             "st.shared.v4.u32 [%r9], {%t, %t, %t, %t};"
                             "st.shared.v4.u32 [%r9+16], {%t, %t, %t, %t}; $filled:"
                             "fence.proxy.async; bar.warp.sync -1;"
                             "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 16;"
                             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                             "bar.warp.sync -1; ld.global.u32 %r3, [%out];";
    return text_of(WrittenKernel(text).run(32));
  };
  EXPECT_EQ(found(""), "");
  EXPECT_THAT(found("and.b32 %r4, %t, 16; add.u32 %r9, %r9, %r4;"), HasSubstr("race"))
      << "half of the lanes copy from elsewhere";
}

// Each block adds four times its number and 7 to what is there.
std::string sum(const std::string& type = "u32", const std::string& wait = until_written) {
  std::string text = store(wait);
  const std::string plain = "cp.async.bulk.global.shared::cta.bulk_group [%rd2]";
  return text.replace(text.find(plain), plain.size(),
                      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add." + type + " [%out]");
}

TEST(BulkSum, adds_to_what_other_blocks_have_added) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(sum());
    EXPECT_EQ(text_of(kernel.run(1, settings, 3)), "");
    EXPECT_EQ(kernel.words[0], 24u);
    EXPECT_EQ(kernel.words[3], 24u);
  }
}

TEST(BulkSum, is_in_flight_until_it_was_waited_for) {
  const std::string read = "ld.global.u32 %r3, [%out];";
  const auto found = [](const std::string& text, unsigned blocks = 1) {
    return text_of(WrittenKernel(text).run(32, {}, blocks));
  };
  EXPECT_EQ(found(sum() + "bar.sync 0;" + read), "");
  EXPECT_THAT(found(sum("u32", until_read) + "bar.sync 0;" + read), is_missing);
  EXPECT_THAT(found(sum() + "bar.sync 0;" + read, 3), HasSubstr("data race"))
      << "another block may be adding";
  EXPECT_EQ(found(sum() + "bar.sync 0; atom.global.add.u32 %r3, [%out], 1;", 3), "");
}

// Block 1 adds when block 0 has, and before that waits for its own sums and reads them.
TEST(BulkSum, leaves_what_others_have_added_since_to_them) {
  const auto spin = [](const std::string& flag, const std::string& label) {
    return label + ": ld.relaxed.gpu.global.u32 %r4, [%out+" + flag +
           "]; setp.eq.u32 %p1, %r4, 0; @%p1 bra " + label + ";";
  };
  const auto set = [](const std::string& flag) {
    return "st.relaxed.gpu.global.u32 [%out+" + flag + "], 1;";
  };
  const std::string text =
      "setp.eq.u32 %p3, %ctaid.x, 0; @%p3 bra $first;" + spin("400", "$begun") +
      "$first:" + sum("u32", "") + "setp.ne.u32 %p3, %ctaid.x, 0; @%p3 bra $second;" + set("400") +
      spin("404", "$added") +
      "cp.async.bulk.wait_group 0; ld.global.u32 %r3, [%out]; bra $end; $second:" +
      "cp.async.bulk.wait_group 0;" + set("404") + "$end:";
  for (const Settings& settings : all_orders())
    EXPECT_THAT(text_of(WrittenKernel(text).run(1, settings, 2)), HasSubstr("a thread of block 1"));
}

TEST(BulkSum, of_other_kinds_is_refused_with_the_reason) {
  EXPECT_THAT(text_of(WrittenKernel(sum("noftz.f16")).run(32)),
              HasSubstr("it would need sums of that type"));
  EXPECT_THAT(text_of(WrittenKernel("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 "
                                    "[%out], [%r2], 16;")
                          .run(32)),
              HasSubstr("it would need copies that do more than add to global memory"));
}

TEST(BulkStore, is_there_when_its_kernel_has_ended) {
  WrittenKernel kernel(store(until_read) + "ld.global.u32 %r3, [%rd2+64];");
  EXPECT_EQ(text_of(kernel.run(1)), "");
  EXPECT_EQ(text_of(kernel.run(1)), "") << "nor is it in flight in the next one";
}

}  // namespace
}  // namespace ptx::tests
