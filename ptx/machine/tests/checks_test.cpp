// What is seen of races, of values that nobody wrote, and of accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/shared_shadow.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

// Thread t writes word t and reads word (t + 1) % n, with something in between.
std::string exchange(const std::string& between, int threads) {
  return fmt::format(R"(
shl.b32 %r2, %t, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %t;
{}
add.s32 %r5, %t, 1; rem.u32 %r5, %r5, {}; shl.b32 %r5, %r5, 2; add.s32 %r6, %r3, %r5;
ld.shared.u32 %r1, [%r6];
)",
                     between, threads) +
         store_r1;
}

TEST(Race, is_none_across_a_barrier) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(exchange("bar.sync 0;", 100));
    EXPECT_EQ(text_of(kernel.run(100, settings)), "");
    EXPECT_EQ(kernel.words[0], 1u);
    EXPECT_EQ(kernel.words[99], 0u);
  }
}

TEST(Race, is_found_in_every_order) {
  for (const Settings& settings : all_orders()) {
    const std::string text = text_of(WrittenKernel(exchange("", 100)).run(100, settings));
    EXPECT_THAT(text, StartsWith("data race: thread ("));
    EXPECT_THAT(text, HasSubstr("a barrier is missing"));
    EXPECT_THAT(text, HasSubstr("line 2"));
  }
}

TEST(Race, is_found_within_a_warp) {
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(text_of(WrittenKernel(exchange("", 32)).run(32, settings)),
                HasSubstr("a __syncwarp is missing"));
    EXPECT_EQ(text_of(WrittenKernel(exchange("bar.warp.sync -1;", 32)).run(32, settings)), "");
    EXPECT_THAT(text_of(WrittenKernel(exchange("bar.warp.sync -1;", 64)).run(64, settings)),
                AnyOf(HasSubstr("a barrier is missing"), HasSubstr("that nobody wrote")))
        << "it orders the lanes of one warp only, and another may read first";
  }
}

TEST(Race, is_found_where_a_word_is_overwritten_that_others_still_read) {
  const std::string body = R"(
shl.b32 %r2, %t, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %t; bar.sync 0;
ld.shared.u32 %r1, [%r3];
)";
  const std::string then = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [%r3], %r2;";
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(text_of(WrittenKernel(body + then).run(64, settings)), StartsWith("data race"));
    EXPECT_EQ(text_of(WrittenKernel(body + "bar.sync 0;" + then).run(64, settings)), "");
  }
}

TEST(Race, between_blocks_takes_a_fence_and_an_atomic) {
  // The last block to take a ticket reads what the others wrote: word b of block b, the ticket in
  // 100.
  const auto ticket = [](const char* fence_before, const char* fence_after) {
    return fmt::format(R"(
mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %out, %rd1;
add.s32 %r2, %r1, 7; st.global.u32 [%rd2], %r2;
{}
atom.global.add.u32 %r3, [%out+400], 1;
{}
setp.ne.u32 %p1, %r3, 2; @%p1 bra $done;
ld.global.u32 %r4, [%out]; ld.global.u32 %r5, [%out+4]; ld.global.u32 %r6, [%out+8];
add.s32 %r4, %r4, %r5; add.s32 %r4, %r4, %r6; st.global.u32 [%out+404], %r4;
$done:
)",
                       fence_before, fence_after);
  };
  for (const Settings& settings : all_orders()) {
    WrittenKernel right(ticket("membar.gl;", "membar.gl;"));
    EXPECT_EQ(text_of(right.run(1, settings, 3)), "");
    EXPECT_EQ(right.words[101], 24u);
    for (const auto& [before, after] : {std::pair{"", "membar.gl;"}, {"membar.gl;", ""}}) {
      const std::string text = text_of(WrittenKernel(ticket(before, after)).run(1, settings, 3));
      EXPECT_THAT(text, HasSubstr("a fence and an atomic operation")) << before << "|" << after;
    }
  }
}

TEST(Race, is_what_the_read_only_cache_may_not_know_of_yet) {
  const auto text = [](const char* load, const char* order, int blocks, const Settings& settings) {
    return text_of(WrittenKernel(fmt::format("mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1;"
                                             "{} %r1, [%rd2]; st.global.u32 [%rd2+512], %r1; {}"
                                             "{} %r2, [%rd2+512];",
                                             load, order, load))
                       .run(32, settings, blocks));
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(text("ld.global.u32", "membar.gl;", 1, settings), "");
    EXPECT_THAT(text("ld.global.nc.u32", "membar.gl; bar.sync 0;", 1, settings),
                AllOf(StartsWith("data race"), HasSubstr("through the read-only cache")));
    EXPECT_EQ(text("ld.global.nc.u32", "exit;", 1, settings), "") << "written after it was read";
  }
}

TEST(Race, between_blocks_is_not_ordered_in_shared_memory) {
  // Every block has a word at this address, and none hears what another one does there.
  for (const char* atomic :
       {"atom.shared.add.u32 %r3, [%r9], 1;", "atom.add.u32 %r3, [%rd9], 1;"}) {
    const std::string body = fmt::format(R"(
mov.u32 %r9, tile; cvt.u64.u32 %rd8, %r9; cvta.shared.u64 %rd9, %rd8; st.shared.u32 [%r9], 0;
{} membar.gl; st.global.u32 [%out], 7; membar.gl; {}
)",
                                         atomic, atomic);
    for (const Settings& settings : all_orders()) {
      EXPECT_EQ(text_of(WrittenKernel(body).run(1, settings)), "");
      EXPECT_THAT(text_of(WrittenKernel(body).run(1, settings, 2)), StartsWith("data race"));
    }
  }
}

TEST(Race, is_none_between_atomics) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel("red.global.add.u32 [%out], 1;");
    EXPECT_EQ(text_of(kernel.run(64, settings, 4)), "");
    EXPECT_EQ(kernel.words[0], 256u);
    EXPECT_THAT(
        text_of(WrittenKernel(
                    "ld.global.u32 %r1, [%out]; add.s32 %r1, %r1, 1; st.global.u32 [%out], %r1;")
                    .run(1, settings, 2)),
        StartsWith("data race"));
  }
}

TEST(Race, is_found_where_a_copy_is_not_waited_for) {
  const auto copy = [](const char* wait) {
    return fmt::format(R"(
mov.u32 %r3, tile; shl.b32 %r2, %t, 2; add.s32 %r4, %r3, %r2; mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1;
cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.commit_group; {}
bar.sync 0; ld.shared.u32 %r1, [%r4]; add.s32 %r1, %r1, 1; bar.sync 0;
)",
                       wait) +
           store_r1;
  };
  WrittenKernel right(copy("cp.async.wait_group 0;"));
  right.words[3] = 41;
  EXPECT_EQ(text_of(right.run(64)), "");
  EXPECT_EQ(right.words[3], 42u);
  EXPECT_THAT(text_of(WrittenKernel(copy("")).run(64)),
              HasSubstr("a wait for the copy is missing"));
}

TEST(Race, is_not_claimed_once_the_time_stands_still) {
  SharedShadow shadow;
  shadow.start(4);
  for (int barrier = 0; barrier < 1 << 21; ++barrier) shadow.tick();
  Warp writer, reader;
  reader.index = 1;
  SharedShadow::Conflict conflict;
  ASSERT_TRUE(shadow.write(writer, 0, 2, 0, conflict));
  shadow.tick();
  reader.since_barrier = reader.since_sync = shadow.now();
  EXPECT_TRUE(shadow.read(reader, 5, 2, 0, conflict));
}

TEST(Unwritten, may_be_read_but_not_gone_by) {
  const std::string read = "mov.u32 %r3, tile; ld.shared.u32 %r2, [%r3+8]; add.s32 %r4, %r2, 1;";
  EXPECT_EQ(text_of(WrittenKernel(read).run(32)), "") << "read, and not used";
  EXPECT_THAT(
      text_of(WrittenKernel(read + "st.global.u32 [%out], %r4;").run(1)),
      StartsWith(
          "use of an uninitialised value: thread (0,0,0) of block (0,0,0) leaves in memory"));
  EXPECT_THAT(text_of(WrittenKernel(read + "setp.eq.u32 %p1, %r4, 3; @%p1 bra $x; $x:").run(1)),
              HasSubstr("decides where to go on by a value that nobody wrote"));
  EXPECT_THAT(
      text_of(
          WrittenKernel(
              read + "cvt.u64.u32 %rd1, %r4; add.s64 %rd1, %rd1, %out; ld.global.u32 %r1, [%rd1];")
              .run(1)),
      HasSubstr("takes an address from a value that nobody wrote"));
  EXPECT_EQ(
      text_of(WrittenKernel(
                  read +
                  "setp.eq.u32 %p1, %t, 0; selp.b32 %r1, %t, %r4, %p1; st.global.u32 [%out], %r1;")
                  .run(1)),
      "")
      << "the other value was chosen";
}

TEST(Unwritten, is_found_by_atomics_that_read) {
  const std::string shared = "mov.u32 %r3, tile;";
  EXPECT_THAT(text_of(WrittenKernel(shared + "atom.shared.add.u32 %r1, [%r3], 1;").run(1)),
              HasSubstr("changes in place a value that nobody wrote: word 0 of tile"));
  EXPECT_EQ(text_of(WrittenKernel(shared + "atom.shared.exch.b32 %r1, [%r3], 1;").run(1)), "")
      << "what was there is not looked at";
  EXPECT_EQ(text_of(WrittenKernel(shared + "st.shared.u32 [%r3], %t;"
                                           "atom.shared.add.u32 %r1, [%r3], 1;")
                        .run(1)),
            "");
}

TEST(Unwritten, is_what_was_discarded) {
  const auto found = [](const std::string& then) {
    return text_of(
        WrittenKernel("add.s64 %rd1, %out, 127; and.b64 %rd1, %rd1, -128;" + then).run(1));
  };
  const std::string discard = "st.global.u32 [%rd1], 1; discard.global.L2 [%rd1], 128;";
  const std::string use = "ld.global.u32 %r1, [%rd1+124]; st.global.u32 [%out+1024], %r1;";
  EXPECT_EQ(found(discard + "st.global.u32 [%rd1+124], 1;" + use), "");
  EXPECT_THAT(found(discard + use), HasSubstr("leaves in memory a value that nobody wrote"));
  EXPECT_EQ(found(discard + "ld.global.u32 %r1, [%rd1+128]; st.global.u32 [%out+1024], %r1;"), "");
  EXPECT_THAT(found("discard.L2 [%rd1+64], 128;"), StartsWith("misaligned access"));
  EXPECT_THAT(found("discard.L2 [%rd1+4096], 128;"), StartsWith("bad address"));
}

TEST(Unwritten, may_be_an_array_of_a_threads_own) {
  const std::string own = ".local .align 4 .b8 own[16]; mov.u32 %r3, own;";
  const std::string read = "ld.local.u32 %r1, [%r3+4];";
  EXPECT_EQ(text_of(WrittenKernel(own + read).run(32)), "") << "read, and not used";
  EXPECT_THAT(
      text_of(WrittenKernel(own + read + store_r1).run(8)),
      HasSubstr("leaves in memory a value that nobody wrote: an element of an array of its own"));
  EXPECT_EQ(text_of(WrittenKernel(own + "st.local.u32 [%r3+4], %t;" + read + store_r1).run(8)), "");
  EXPECT_THAT(text_of(WrittenKernel(own + read +
                                    "st.local.u32 [%r3+8], %r1;"
                                    "ld.local.u32 %r1, [%r3+8];" +
                                    store_r1)
                          .run(8)),
              HasSubstr("an element of an array of its own"))
      << "put there by a store, and still what nobody wrote";
  WrittenKernel twice(own +
                      "setp.ne.u32 %p1, %t, 0; @%p1 bra $read; st.local.u32 [%r3+4], %t;"
                      "$read: " +
                      read + store_r1);
  EXPECT_THAT(text_of(twice.run(2)), HasSubstr("thread (1,0,0)")) << "each thread has its own";
}

TEST(Unwritten, is_a_register_too) {
  const std::string set_by_some = "setp.gt.u32 %p1, %t, 3; @%p1 mov.u32 %r1, 5;";
  EXPECT_THAT(text_of(WrittenKernel(set_by_some + store_r1).run(8)), HasSubstr("thread (0,0,0)"));
  EXPECT_EQ(text_of(WrittenKernel("mov.u32 %r1, 1;" + set_by_some + store_r1).run(8)), "");
}

std::vector<std::string> sites_of(const Outcome& outcome) {
  std::vector<std::string> all;
  for (const Site& site : outcome.finding->sites) all.push_back(site.does);
  return all;
}

TEST(Finding, names_the_variable_and_both_places) {
  WrittenKernel kernel(exchange("", 64));
  const Outcome race = kernel.run(64);
  EXPECT_THAT(text_of(race), HasSubstr("of tile"));
  EXPECT_THAT(sites_of(race), AnyOf(testing::ElementsAre("reads", "wrote"),
                                    testing::ElementsAre("writes", "read")));
  EXPECT_EQ(race.finding->address, 0u) << "that of shared memory is no address";
}

TEST(Finding, names_variables_as_their_author_does) {
  for (const auto& [symbol, shown] :
       {std::pair{"s", "of s ("}, {"_ZZN3ns15tiledEvE6a_tile", "of a_tile ("}}) {
    const std::string body =
        fmt::format("mov.u32 %r3, {}; shl.b32 %r2, %t, 2; st.shared.u32 [%r3], %t;", symbol);
    const std::string variable = fmt::format(".shared .align 4 .b8 {}[64];", symbol);
    EXPECT_THAT(text_of(WrittenKernel(body, variable).run(2)), HasSubstr(shown));
  }
}

TEST(Finding, tells_where_a_value_that_nobody_wrote_comes_from) {
  // Each thread reads the word of its own number, and moves it about.
  const std::string read =
      "mov.u32 %r3, tile; shl.b32 %r2, %t, 2; add.s32 %r3, %r3, %r2; "
      "setp.gt.u32 %p1, %t, 2; @!%p1 st.shared.u32 [%r3], %t; bar.sync 0;"
      "ld.shared.u32 %r5, [%r3]; add.s32 %r6, %r5, 1; mov.b32 %r1, %r6;";
  const Outcome stored = WrittenKernel(read + store_r1).run(8);
  EXPECT_THAT(text_of(stored), HasSubstr("thread (3,0,0) of block (0,0,0) leaves in memory a value "
                                         "that nobody wrote: word 3 of tile, read at line"));
  EXPECT_THAT(text_of(stored), HasSubstr(", to byte 12 of words"));
  EXPECT_THAT(sites_of(stored), testing::ElementsAre("uses", "read"));
  EXPECT_THAT(text_of(WrittenKernel(read + "setp.eq.u32 %p2, %r1, 3; @%p2 bra $x; $x:").run(8)),
              HasSubstr("a value that nobody wrote: word 3 of tile"));
  EXPECT_THAT(
      text_of(WrittenKernel("setp.gt.u32 %p1, %t, 3; @%p1 mov.u32 %r1, 5;" + std::string(store_r1))
                  .run(8)),
      HasSubstr("a variable of its own, which was never set"));
}

TEST(Finding, tells_of_what_came_through_shared_memory_where_it_comes_from) {
  // Each thread copies its own word to another one, and that to global memory.
  const Outcome stored =
      WrittenKernel(
          "mov.u32 %r3, tile; shl.b32 %r2, %t, 2; add.s32 %r3, %r3, %r2; ld.shared.u32 %r5, [%r3];"
          "st.shared.u32 [%r3+256], %r5; bar.sync 0; ld.shared.u32 %r1, [%r3+256];" +
          std::string(store_r1))
          .run(8);
  EXPECT_THAT(text_of(stored), testing::ContainsRegex("word 64 of tile, read at line [0-9]+ .*, "
                                                      "which holds word 0 of tile, read at line"));
  EXPECT_THAT(sites_of(stored), testing::ElementsAre("uses", "read", "read"));
}

TEST(Finding, is_a_race_where_somebody_writes_later_what_was_read_before) {
  // Thread 40 reads and leaves in memory what thread 0 writes: in some orders before it does.
  const std::string body =
      "mov.u32 %r3, tile; setp.ne.u32 %p1, %t, 0; setp.ne.u32 %p2, %t, 40;"
      "@%p1 bra $others; st.shared.u32 [%r3], %t; $others: @%p2 bra $done;"
      "ld.shared.u32 %r1, [%r3]; st.global.u32 [%out], %r1; $done:";
  for (const Settings& settings : all_orders()) {
    const std::string text = text_of(WrittenKernel(body).run(64, settings));
    EXPECT_THAT(text, StartsWith("data race"));
    EXPECT_THAT(text, HasSubstr("word 0 of tile"));
  }
}

TEST(Finding, is_made_though_a_kernel_goes_astray_by_what_nobody_wrote) {
  const std::string read = "mov.u32 %r3, tile; ld.shared.u32 %r1, [%r3];";
  for (const std::string& then :
       {std::string("cvt.u64.u32 %rd1, %r1; ld.global.u32 %r2, [%rd1];"),
        std::string("$again: setp.ne.u32 %p1, %r1, 0; @%p1 bra $again;")}) {
    EXPECT_THAT(text_of(WrittenKernel(read + then).run(1)),
                StartsWith("use of an uninitialised value"));
  }
}

TEST(Access, outside_is_named) {
  EXPECT_THAT(text_of(WrittenKernel("ld.global.u32 %r1, [%out+4096];").run(1)),
              HasSubstr("reads 4 bytes, 0 bytes past the end of words"));
  EXPECT_THAT(text_of(WrittenKernel("st.global.u32 [%out+-4], %t;").run(1)),
              HasSubstr("4 bytes before words"));
  EXPECT_THAT(text_of(WrittenKernel("ld.global.u32 %r1, [%out+2];").run(1)),
              StartsWith("misaligned access"));
  EXPECT_THAT(text_of(WrittenKernel("mov.u32 %r1, tile; st.shared.u32 [%r1+4096], %t;").run(1)),
              HasSubstr("4096 of 4096 bytes of shared memory"));
}

TEST(Access, keeps_to_rows) {
  std::vector<float> floats(64);
  Memory memory;
  const auto first = reinterpret_cast<std::uint64_t>(floats.data());
  const Program program(read(R"(.version 9.0 .target sm_90 .address_size 64
.entry k(.param .u64 p, .param .u64 at) { .reg .b64 %a<3>; .reg .b32 %r;
ld.param.u64 %a1, [p]; ld.param.u64 %a2, [at]; add.s64 %a1, %a1, %a2; ld.global.u32 %r, [%a1]; ret; })"),
                        memory);
  memory.lend({.name = "A",
               .first = first,
               .rows = 4,
               .row_bytes = 40,
               .pitch_bytes = 64,
               .writable = false});
  const auto reading = [&](std::uint64_t at) {
    Launch launch{.kernel = program.kernel("k")};
    launch.params.resize(16);
    std::memcpy(launch.params.data(), &first, 8);
    std::memcpy(launch.params.data() + 8, &at, 8);
    return text_of(run(launch, memory, {}));
  };
  EXPECT_EQ(reading(36), "");
  EXPECT_EQ(reading(64), "");
  EXPECT_THAT(reading(40), HasSubstr("between the rows of A: 0 bytes past the end of row 0"));
  EXPECT_THAT(reading(124), HasSubstr("between the rows of A"));
  EXPECT_THAT(reading(64 * 3 + 40), HasSubstr("past the end of A"));
}

TEST(SharedArrays, end_where_the_next_begins) {
  const auto found = [](const std::string& body) {
    WrittenKernel kernel(
        ".shared .align 4 .b8 after[64]; mov.u32 %r2, tile; mov.u32 %r3, after;"
        "st.shared.u32 [after], 1; st.shared.u32 [tile], 1;" +
        body);
    return text_of(kernel.run(1));
  };
  const auto beyond = testing::HasSubstr("word 0 of after, past the end of tile, the array that");
  EXPECT_THAT(found("ld.shared.u32 %r1, [tile+4096];"), beyond);
  EXPECT_THAT(found("mad.lo.u32 %r4, 1024, 4, %r2; ld.shared.u32 %r1, [%r4];"), beyond);
  EXPECT_THAT(found("add.u32 %r4, %r2, 4092; st.shared.u32 [%r4+4], 2;"), beyond);
  EXPECT_THAT(found("cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4096];"),
              beyond);
  EXPECT_THAT(found("ld.shared.u32 %r1, [%r3+-4096];"),
              testing::HasSubstr("word 0 of tile, before the beginning of after"));
  EXPECT_EQ(found("add.u32 %r4, %r3, -4; ld.shared.u32 %r1, [%r4+4];"), "") << "on its way only";
  EXPECT_EQ(found("setp.eq.u32 %p1, %t, 0; selp.u32 %r4, %r3, %r2, %p1; ld.shared.u32 %r1, [%r4];"),
            "")
      << "an address of either";
  EXPECT_EQ(found("mov.u32 %r4, 4096; ld.shared.u32 %r1, [%r4];"), "") << "of none that is named";
}

}  // namespace
}  // namespace ptx::tests
