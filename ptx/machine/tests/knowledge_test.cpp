// What blocks know of each other, by what warps told at addresses.
#include "ptx/machine/between/knowledge.h"

#include <gtest/gtest.h>

#include "ptx/machine/shared_shadow.h"

namespace ptx::tests {
namespace {

// Of the first thread of a warp, at a time.
std::uint32_t at(std::uint32_t time, std::uint32_t warp = 0) {
  return stamp::make(time, warp * 32);
}

// All that a block has done before a time.
Knowledge of(std::uint64_t block, std::uint32_t before) {
  Knowledge known;
  known.learn(block, Knowledge::all, before);
  return known;
}
Told by_fence(const Told::By& by, const Knowledge& known) {
  Told told(by);
  told.tell(known);
  return told;
}

TEST(Knowledge, is_of_what_was_told_before_it_was_heard) {
  Told place;
  Knowledge early, late;
  place.tell(of(7, 10));
  early.hear(place);
  place.tell(of(7, 20)), place.tell(of(8, 5));
  late.hear(place);
  EXPECT_TRUE(early.knows(7, at(9)) && !early.knows(7, at(10)) && !early.knows(8, at(1)));
  EXPECT_TRUE(late.knows(7, at(19)) && late.knows(8, at(4)) && !late.knows(8, at(5)));
  EXPECT_FALSE(early.has_heard(place));
  EXPECT_TRUE(late.has_heard(place));
}

TEST(Knowledge, of_what_a_warp_told_last_holds_all_that_it_told_before) {
  const Told first = by_fence({.block = 7, .turn = 1}, of(7, 10)),
             then = by_fence({.block = 7, .turn = 2}, of(7, 20));
  for (const bool in_order : {true, false}) {
    Knowledge known;
    known.hear(in_order ? first : then), known.hear(in_order ? then : first);
    EXPECT_TRUE(known.knows(7, at(19))) << in_order;
    EXPECT_TRUE(known.has_heard(first) && known.has_heard(then)) << in_order;
    Knowledge joined, other;
    joined.hear(in_order ? first : then), other.hear(in_order ? then : first);
    joined.learn(other);
    EXPECT_TRUE(joined.knows(7, at(19))) << in_order;
  }
  Told place;
  Knowledge known;
  place.tell(first), place.tell(then);
  known.hear(place);
  EXPECT_TRUE(known.knows(7, at(19)));
}

TEST(Knowledge, of_other_warps_and_of_the_own_block_is_kept_beside_it) {
  const Told one = by_fence({.block = 7, .warp = 0, .turn = 1}, of(7, 10)),
             other = by_fence({.block = 7, .warp = 1, .turn = 2}, of(8, 10)),
             own = by_fence({.block = 7, .warp = 1, .own_block_alone = true, .turn = 3}, of(9, 10)),
             next = by_fence({.block = 6, .warp = 63, .turn = 4}, of(10, 10));
  Knowledge known;
  for (const Told* told : {&one, &other, &own, &next}) known.hear(*told);
  for (const std::uint64_t block : {7u, 8u, 9u, 10u})
    EXPECT_TRUE(known.knows(block, at(9))) << block;
  EXPECT_FALSE(known.knows(11, at(1)));
}

// Somebody tells what the last but one of a warp said, and another one what its last said.
TEST(Knowledge, comes_from_those_who_heard_it_elsewhere) {
  const Told first = by_fence({.block = 7, .turn = 1}, of(7, 10)),
             then = by_fence({.block = 7, .turn = 2}, of(7, 20));
  Knowledge of_one, of_other;
  of_one.hear(first), of_other.hear(then);
  // Which of the two is gone through first is up to their numbers.
  for (const std::uint64_t first_block : {8u, 10u}) {
    const Told one = by_fence({.block = first_block, .turn = 3}, of_one),
               other = by_fence({.block = 9, .turn = 4}, of_other);
    Knowledge known;
    known.hear(one), known.hear(other);
    EXPECT_TRUE(known.knows(7, at(19)) && !known.knows(7, at(20))) << first_block;
  }
  Told place;
  Knowledge at_place;
  place.tell(of_one), place.tell(of_other);
  at_place.hear(place);
  EXPECT_TRUE(at_place.knows(7, at(19)) && !at_place.knows(7, at(20)));
  const Told one = by_fence({.block = 8, .turn = 3}, of_one);
  Knowledge known;
  known.hear(one);
  EXPECT_TRUE(known.knows(7, at(9)) && !known.knows(7, at(10)));
}

}  // namespace
}  // namespace ptx::tests
