// A file is written whole or not at all. The command's tests cover OutputFile.
#include "base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/errors.h"

namespace assay::tests {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    std::string path = (fs::temp_directory_path() / "assay_whole_XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  ~WholeFile() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path folder_;
};

TEST_F(WholeFile, IsMadeOrReplaced) {
  write_whole(folder_ / "a", "one");
  EXPECT_EQ(text_of(folder_ / "a"), "one");
  write_whole(folder_ / "a", "");
  EXPECT_EQ(text_of(folder_ / "a"), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing is left beside it";
}

TEST_F(WholeFile, KeepsItsMode) {
  write_whole(folder_ / "a", "one");
  fs::permissions(folder_ / "a", fs::perms(0640));
  write_whole(folder_ / "a", "two");
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0640));
}

TEST_F(WholeFile, SaysWhichOneCannotBeWritten) {
  try {
    write_whole(folder_ / "none" / "a", "one");
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_EQ(error.what(),
              (folder_ / "none" / "a").string() + ": cannot be written: No such file or directory");
  }
}

}  // namespace
}  // namespace assay::tests
