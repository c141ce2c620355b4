// The corpus of past failures: what was appended is read back, and damage is told by its line.
#include "properties/corpus.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"

namespace {

using namespace assay;

class Corpus : public testing::Test {
 protected:
  Corpus() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("assay_corpus_") + test->name() + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path = folder_ / "corpus.txt";
  }
  ~Corpus() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
  std::string complaint() const {
    try {
      read_corpus(path);
      ADD_FAILURE() << "this was read: " << text();
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_, path;
};

CorpusLine line(const char* claim, const char* c) { return {&claim_named(claim), parse_case(c)}; }

const char* const first_case = "m=1 n=2 k=3 alpha=-0.1 ldb=+64 offset=1,0,3 fill=special seed=7";

TEST_F(Corpus, reads_back_what_was_appended) {
  const std::vector<CorpusLine> lines = {
      line("within_bound", first_case), line("exact_integers", "m=1001 n=513 k=777 fill=exact"),
      line("refuses", "m=0 n=0 k=0"), line("within_bound", "m=1 n=2 k=3")};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    append_to_corpus(path, lines[i]);
    const auto read = read_corpus(path);
    ASSERT_EQ(read.size(), i + 1);
    for (std::size_t j = 0; j <= i; ++j) EXPECT_EQ(read[j], lines[j]);
  }
  EXPECT_TRUE(text().starts_with(std::string("within_bound: ") + first_case + "\n"));
}

TEST_F(Corpus, knows_every_claim) {
  for (const Claim& claim : claims()) append_to_corpus(path, {&claim, parse_case("m=1 n=1 k=1")});
  const auto read = read_corpus(path);
  ASSERT_EQ(read.size(), claims().size());
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].claim, &claims()[i]);
}

TEST_F(Corpus, is_empty_where_there_is_no_file) {
  EXPECT_TRUE(read_corpus(path).empty());
  EXPECT_FALSE(std::filesystem::exists(path)) << "reading creates nothing";
  write("");
  EXPECT_TRUE(read_corpus(path).empty());
}

TEST_F(Corpus, skips_comments_and_blank_lines) {
  write("# a comment: with a colon\n\n   \t\nwithin_bound: m=1 n=1 k=1\n#within_bound: m=2\n\r\n");
  EXPECT_EQ(read_corpus(path), std::vector{line("within_bound", "m=1 n=1 k=1")});
}

TEST_F(Corpus, reads_a_last_line_without_an_end) {
  write("within_bound: m=1 n=1 k=1\nrefuses: m=2 n=2 k=2");
  EXPECT_EQ(read_corpus(path).size(), 2u);
}

TEST_F(Corpus, reads_lines_that_an_editor_ended_with_cr_lf) {
  write("within_bound: m=1 n=1 k=1\r\n\r\nrefuses: m=2 n=2 k=2\r\n");
  EXPECT_EQ(read_corpus(path),
            (std::vector{line("within_bound", "m=1 n=1 k=1"), line("refuses", "m=2 n=2 k=2")}));
}

TEST_F(Corpus, names_file_line_and_fault_of_what_it_cannot_read) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> damaged = {
      {"within_bound m=1 n=1 k=1", {"'claim: case'"}},
      {"within_bound: m=1 n=1", {"'k' is missing"}},
      {"within_bound: m=1 n=1 k=x", {"'k=x'", "whole number"}},
      {"calibration: m=1 n=1 k=1", {"there is no claim 'calibration'"}},
      {"within_bond: m=1 n=1 k=1", {"within_bond", "did you mean within_bound?"}},
      {": m=1 n=1 k=1", {"claim"}},
      {"within_bound:", {"'m' is missing"}}};
  for (const auto& [bad, words] : damaged) {
    write("# past failures\nwithin_bound: m=1 n=1 k=1\n\n" + bad + "\nrefuses: m=1 n=1 k=1\n");
    const std::string message = complaint();
    EXPECT_EQ(message.find(path.string() + ":4: "), 0u) << message;
    for (const auto& word : words) EXPECT_NE(message.find(word), message.npos) << message;
    EXPECT_EQ(message.find('\n'), message.npos) << "one line";
  }
}

TEST_F(Corpus, is_no_folder) {
  std::filesystem::create_directory(path);
  EXPECT_NE(complaint().find(path.string()), std::string::npos);
  EXPECT_THROW(append_to_corpus(path, line("refuses", "m=1 n=1 k=1")), BadInput);
}

TEST_F(Corpus, names_a_path_that_cannot_be_written) {
  const auto nowhere = folder_ / "no" / "such" / "folder" / "corpus.txt";
  try {
    append_to_corpus(nowhere, line("refuses", "m=1 n=1 k=1"));
    ADD_FAILURE() << "there is no folder to write to";
  } catch (const BadInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(nowhere.string()), message.npos) << message;
    EXPECT_NE(message.find("cannot be written: No such file"), message.npos) << message;
  }
}

TEST_F(Corpus, takes_no_line_twice) {
  append_to_corpus(path, line("within_bound", first_case));
  append_to_corpus(path, line("refuses", first_case));
  const std::string once = text();
  append_to_corpus(path, line("within_bound", first_case));
  append_to_corpus(path, line("refuses", first_case));
  EXPECT_EQ(text(), once);
}

TEST_F(Corpus, keeps_what_it_was) {
  const std::string before = "# by hand\n\nwithin_bound: seed=3 k=1 n=1 m=1\n";
  write(before);
  append_to_corpus(path, line("refuses", "m=1 n=1 k=1"));
  EXPECT_EQ(text(), before + "refuses: m=1 n=1 k=1\n");
  append_to_corpus(path, line("within_bound", "m=1 n=1 k=1 seed=3"));
  EXPECT_EQ(text(), before + "refuses: m=1 n=1 k=1\n") << "it is there in other words";
}

TEST_F(Corpus, appends_after_a_last_line_without_an_end) {
  write("within_bound: m=1 n=1 k=1");
  append_to_corpus(path, line("refuses", "m=2 n=2 k=2"));
  EXPECT_EQ(text(), "within_bound: m=1 n=1 k=1\nrefuses: m=2 n=2 k=2\n");
}

TEST_F(Corpus, changes_nothing_where_it_is_damaged_and_lets_go_of_it) {
  const std::string damaged = "within_bound: m=1 n=1\n";
  write(damaged);
  EXPECT_THROW(append_to_corpus(path, line("refuses", "m=1 n=1 k=1")), BadInput);
  EXPECT_EQ(text(), damaged);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(flock(file, LOCK_EX | LOCK_NB), 0) << "it is locked for ever: the next append hangs";
  close(file);
}

}  // namespace
