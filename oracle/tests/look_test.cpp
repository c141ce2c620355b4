// What a look at every access sees, of kernels whose results are right.
#include "oracle/watched/look.h"

#include "oracle/tests/trials.h"

namespace {

using namespace assay;
using namespace oracle_test;

constexpr std::uint64_t all_of_them = 1 << 20;
constexpr Forbidden all_forbidden[] = {Forbidden::reading_outside, Forbidden::writing_outside,
                                       Forbidden::reading_c};

// Rows of three floats, four apart.
const Case gaps = parse_case("m=2 n=3 k=3 lda=+1 ldb=+1 ldc=+1");
const Case packed = parse_case("m=2 n=3 k=3");

Look look(const std::string& name, Forbidden forbidden, const Case& c = gaps,
          std::uint64_t most = all_of_them) {
  return look_at_accesses(planted("planted_" + name), c, forbidden, most);
}

void expect(const std::string& name, Forbidden forbidden, const Finding& finding,
            const std::string& words, const Case& c = gaps) {
  const Look seen = look(name, forbidden, c);
  EXPECT_EQ(seen.words, words) << name;
  EXPECT_EQ(to_string(seen.finding.fault), to_string(finding.fault)) << name;
  EXPECT_EQ(seen.finding.operand, finding.operand) << name;
  EXPECT_FALSE(seen.whole) << name;
}

// Everything is right, and all of it was looked at.
void expect_nothing(const std::string& name, Forbidden forbidden, const Case& c = gaps) {
  const Look seen = look(name, forbidden, c);
  EXPECT_EQ(seen.words, "") << name;
  EXPECT_TRUE(seen.whole) << name << " on " << to_string(c);
}

constexpr const char* first_thread = "thread (0,0,0) of block (0,0,0)";
std::string by_first_thread(const std::string& words, const std::string& part = "") {
  return words + ": " + part + first_thread;
}

TEST(Look, sees_what_is_read_between_rows) {
  const Finding gap_of_b = {Fault::read_gap, Operand::b};
  const std::string at_b = "reads between the rows of B, at row 0, column 3, but n = 3";
  const auto reading = Forbidden::reading_outside;
  expect("reads_gap", reading, gap_of_b, by_first_thread(at_b));
  expect("reads_gap_by_quads", reading, gap_of_b, by_first_thread(at_b, "4 of 16 bytes of "));
  expect("reads_gap_by_copies", reading, gap_of_b, by_first_thread(at_b, "8 of 12 bytes of "));
  const std::string at_a = "reads between the rows of A, at row 0, column 3, but k = 3";
  expect("reads_gap_by_memcpy", reading, {Fault::read_gap, Operand::a},
         by_first_thread(at_a, "4 of 16 bytes of "));
  expect("after_a_copy", reading, {Fault::read_gap, Operand::a},
         at_a + ": 16 of 28 bytes of a memset or memcpy");
  for (const char* name : {"reads_gap_of_c", "writes_gap", "writes_gap_by_atomics"})
    expect(name, reading, {Fault::read_gap, Operand::c},
           by_first_thread("reads between the rows of C, at row 0, column 3, but n = 3"));
}

TEST(Look, sees_what_is_read_behind_and_before) {
  const auto reading = Forbidden::reading_outside;
  for (const Case& c : {gaps, packed}) {
    expect("reads_behind", reading, {Fault::read_outside, Operand::a},
           by_first_thread("reads the 1st float past the last element of A"), c);
    expect("reads_before", reading, {Fault::read_outside, Operand::b},
           by_first_thread("reads the 1st float before the first element of B"), c);
  }
  expect("reads_behind_by_quads", reading, {Fault::read_outside, Operand::b},
         by_first_thread("reads the 1st float past the last element of B", "4 of 16 bytes of "));
  expect("reads_far_behind", reading, {Fault::read_outside, Operand::a},
         by_first_thread("reads the 1002nd float past the last element of A"));
}

TEST(Look, sees_what_is_written_as_it_was) {
  const Finding beside_c = {Fault::wrote_beside, Operand::c};
  const std::string at_c = "writes between the rows of C, at row 0, column 3, but n = 3";
  const auto writing = Forbidden::writing_outside;
  expect("writes_gap", writing, beside_c, by_first_thread(at_c));
  expect("writes_gap_by_atomics", writing, beside_c, by_first_thread(at_c));
  for (const char* name : {"writes_gap_by_quads", "writes_gap_by_memcpy"})
    expect(name, writing, beside_c, by_first_thread(at_c, "4 of 16 bytes of "));
  expect("writes_behind", writing, beside_c,
         by_first_thread("writes the 1st float past the last element of C"));
  expect("writes_a", writing, {Fault::wrote_input, Operand::a},
         by_first_thread("writes to A, which is only to be read, at row 1, column 2"));
  expect("writes_gap_of_b", writing, {Fault::wrote_input, Operand::b},
         by_first_thread("writes between the rows of B, at row 0, column 3, but n = 3"));
}

TEST(Look, sees_c_read_before_it_is_written) {
  const auto words = [](const char* place) {
    return fmt::format("reads C at {}, although beta is 0 and nobody has written it", place);
  };
  const Finding old_c = {Fault::read_old_c, Operand::c};
  const auto reading = Forbidden::reading_c;
  for (const Case& c : {gaps, packed}) {
    expect("reads_c", reading, old_c, by_first_thread(words("row 1, column 1")), c);
    expect("reads_c_by_copies", reading, old_c, by_first_thread(words("row 0, column 0")), c);
    expect("reads_c_by_atomics", reading, old_c, by_first_thread(words("row 0, column 0")), c);
    expect_nothing("reads_c_that_it_wrote", reading, c);
  }
  expect_nothing("upon_zeros", reading, packed);
}

TEST(Look, allows_what_is_an_operands_own) {
  for (const char* text : {"m=2 n=3 k=3 lda=+1 ldb=+1 ldc=+1", "m=2 n=3 k=3", "m=1 n=1 k=1",
                           "m=20 n=17 k=33 lda=+5 ldb=+7 ldc=+9 offset=1,2,3", "m=3 n=3 k=0 ldb=+4",
                           "m=5 n=3 k=5 lda=+1073741824 ldc=+1073741824"}) {
    for (Forbidden forbidden : all_forbidden) {
      expect_nothing("nothing", forbidden, parse_case(text));
      expect_nothing("nothing", forbidden, parse_case(text + std::string(" alpha=0 seed=1")));
    }
    for (Forbidden forbidden : {Forbidden::reading_outside, Forbidden::writing_outside})
      expect_nothing("nothing", forbidden, parse_case(text + std::string(" beta=0.5")));
  }
  expect_nothing("reads_all_of_b", Forbidden::reading_outside);
  expect_nothing("reads_all_of_b", Forbidden::reading_outside, packed);
  expect_nothing("reads_packed_rows", Forbidden::reading_outside, packed);
  expect_nothing("after_a_copy", Forbidden::reading_outside, packed);
}

TEST(Look, is_for_one_thing_at_a_time) {
  expect_nothing("reads_gap", Forbidden::writing_outside);
  expect_nothing("writes_a", Forbidden::reading_outside);
  expect_nothing("reads_gap_of_c", Forbidden::reading_c);
  expect_nothing("reads_c", Forbidden::reading_outside);
}

TEST(Look, is_not_whole_where_it_gives_up) {
  const Look few = look("nothing", Forbidden::reading_outside, gaps, 10);
  EXPECT_FALSE(few.whole);
  EXPECT_EQ(few.words, "");
  const Look huge = look("nothing", Forbidden::reading_c, parse_case("m=70000 n=70000 k=1"));
  EXPECT_FALSE(huge.whole);
  EXPECT_FALSE(look("nothing", Forbidden::reading_outside, parse_case("m=0 n=3 k=3")).whole);
}

TEST(Look, takes_the_same_course_each_time) {
  const Case c = parse_case("m=20 n=17 k=9 ldb=+3 seed=5");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(look("reads_gap", Forbidden::reading_outside, c).words,
              by_first_thread("reads between the rows of B, at row 0, column 17, but n = 17"));
}

}  // namespace
