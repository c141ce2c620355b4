// Baselines on the disk: what is written is read back, as a whole or not at all.
#include "regress/store/baseline.h"
#include "base/sha256.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "base/errors.h"
#include "regress/tests/any_baseline.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

// All files below a folder, with their bytes.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    files[name] = entry.is_directory() ? "" : bytes_of(entry.path());
  }
  return files;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

using Baselines = BaselineFolder;

TEST_F(Baselines, AreReadBackAndWrittenAgainToTheByte) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    fs::remove_all(folder_ / "once");
    fs::remove_all(folder_ / "twice");
    Baseline before = BaselineSource(seed).baseline();
    write_baseline(folder_ / "once", before);
    const Baseline after = read_baseline(folder_ / "once", before.gpu);
    write_baseline(folder_ / "twice", after);
    EXPECT_EQ(tree(folder_ / "once"), tree(folder_ / "twice"));

    before.cubins = after.cubins;  // those that are asked for
    ASSERT_EQ(after, before);
  }
}

TEST_F(Baselines, LeaveOutCubinsThatNobodyAsksFor) {
  Baseline b = some_baseline();
  const Baseline asked_for = b;
  add_cubin(b, "small_80.cubin");
  write_baseline(folder_, b);
  EXPECT_EQ(read_baseline(folder_, b.gpu), asked_for);
}

TEST_F(Baselines, LieInFilesOfTheseNames) {
  write_baseline(folder_, some_baseline());
  std::string names;
  for (const auto& [name, bytes] : tree(folder_ / "NVIDIA-H200")) {
    names += name + " ";
    const std::string hash = sha256(bytes).substr(0, 16);
    EXPECT_TRUE(!name.ends_with(".json") || bytes.ends_with("}\n")) << name;
    EXPECT_TRUE(!name.ends_with(".cubin") || name == "cubins/" + hash + ".cubin") << name;
  }
  EXPECT_TRUE(names.starts_with("anchor anchor/small.json cubins cubins/")) << names;
  EXPECT_TRUE(names.ends_with(".cubin device.json removed small.json table.json ")) << names;
}

TEST_F(Baselines, ChangeTheFilesOfWhatChangedAndNoOther) {
  const Baseline first = some_baseline();
  write_baseline(folder_, first);
  Baseline other = some_baseline();
  other.gpu = "other";
  write_baseline(folder_, other);
  auto files = tree(folder_);
  Baseline next = first;
  next.accepted["small"].provenance.reason = "another";
  write_bytes(folder_ / first.gpu / "table.json", files["NVIDIA-H200/table.json"] + "\n");
  write_baseline(folder_, next, first);
  for (const auto& [name, bytes] : tree(folder_)) {
    if (name == "NVIDIA-H200/small.json") {
      EXPECT_NE(bytes, files[name]);
    } else if (name == "NVIDIA-H200/table.json") {
      EXPECT_EQ(bytes, files[name] + "\n") << "another's file is not even formatted";
    } else {
      EXPECT_EQ(bytes, files[name]) << name;
    }
  }
  EXPECT_EQ(read_baseline(folder_, first.gpu), next);

  Baseline fewer = next;
  fewer.accepted.erase("table");
  fewer.anchor.clear();
  write_baseline(folder_, fewer, next);
  EXPECT_FALSE(fs::exists(folder_ / first.gpu / "table.json"));
  EXPECT_EQ(read_baseline(folder_, first.gpu).accepted, fewer.accepted);
  EXPECT_EQ(read_baseline(folder_, "other"), other);
}

// Two branches that accept different variants change no common file, and git merges them.
TEST_F(Baselines, OfTwoWritersAreBothKeptOrOneIsRefused) {
  const Baseline seen = some_baseline();
  write_baseline(folder_, seen);
  Baseline one = seen, other = seen, same = seen;
  one.accepted["small"].provenance.reason = "one";
  other.accepted["table"].provenance.reason = "other";
  same.accepted["small"].provenance.reason = "too late";
  write_baseline(folder_, one, seen);
  write_baseline(folder_, other, seen);
  EXPECT_EQ(message_of([&] { write_baseline(folder_, same, seen); }),
            "small was accepted by somebody else meanwhile, and what they stored is kept: compare "
            "with that, and accept again");
  const Baseline both = read_baseline(folder_, seen.gpu);
  EXPECT_EQ(both.accepted.at("small").provenance.reason, "one");
  EXPECT_EQ(both.accepted.at("table").provenance.reason, "other");
}

TEST_F(Baselines, OfManyWritersAtOnceAreAllKept) {
  const Baseline seen = some_baseline();
  write_baseline(folder_, seen);
  std::vector<std::jthread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      Baseline mine = seen;
      mine.accepted[fmt::format("v{}", i)] = seen.accepted.at("table");
      write_baseline(folder_, mine, seen);
    });
  }
  writers.clear();
  EXPECT_EQ(read_baseline(folder_, seen.gpu).accepted.size(), 2u + 8);
}

TEST_F(Baselines, KeepACubinThatAnotherBranchMayAskFor) {
  const Baseline seen = some_baseline();
  write_baseline(folder_, seen);
  Baseline next = seen;
  next.accepted["table"] = seen.accepted.at("small");
  write_baseline(folder_, next, seen);
  EXPECT_EQ(read_baseline(folder_, seen.gpu).cubins, seen.cubins);
}

TEST_F(Baselines, IgnoreAndRemoveWhatAnInterruptedWriteLeft) {
  const Baseline b = some_baseline();
  fs::create_directories(folder_ / ".NVIDIA-H200.new-abcdef" / "NVIDIA-H200");
  write_bytes(folder_ / "README.md", "not a GPU");
  EXPECT_TRUE(stored_gpus(folder_).empty());
  EXPECT_THROW(read_baseline(folder_, b.gpu), NoBaseline);
  write_baseline(folder_, b);
  EXPECT_EQ(stored_gpus(folder_), std::vector<std::string>{b.gpu});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(Baselines, OfAnotherGpuAreNamed) {
  const fs::path nothing = folder_ / "nothing";
  EXPECT_TRUE(stored_gpus(nothing).empty());
  EXPECT_EQ(message_of([&] { read_baseline(nothing, "T4"); }),
            nothing.string() + " has no baseline for T4; it has none");
  Baseline b = some_baseline();
  write_baseline(folder_, b);
  b.gpu = "A100";
  write_baseline(folder_, b);
  EXPECT_EQ(message_of([&] { read_baseline(folder_, "T4"); }),
            folder_.string() + " has no baseline for T4; it has A100, NVIDIA-H200");
  EXPECT_THROW(read_baseline(folder_, "T4"), NoBaseline);
  EXPECT_THROW(read_baseline(folder_, "../T4"), BadInput);
}

// What could not be read back is not written.
TEST_F(Baselines, ThatAreWrongChangeNothing) {
  const Baseline good = some_baseline();
  write_baseline(folder_, good);
  const auto before = tree(folder_);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::string cubin = good.accepted.at("table").cells[0].cubin;

  const std::pair<std::function<void(Baseline&, CellRecord&)>, const char*> faults[] = {
      {[&](auto&, auto& cell) { cell.time_us = nan; }, "/small.json: cells[0].time_us: expected"},
      {[&](auto&, auto& cell) { cell.time_us = -1; }, "/small.json: cells[0].time_us: expected"},
      {[&](auto&, auto& cell) { cell.clock_mhz = infinity; },
       "/small.json: cells[0].clock_mhz: expected"},
      {[&](auto&, auto& cell) { cell.to_cublas.high = infinity; },
       "/small.json: cells[0].to_cublas.high: expected"},
      {[&](auto&, auto& cell) { cell.problem.alpha = nan; }, "/small.json: cells[0].problem: "},
      {[&](auto&, auto& cell) { cell.cubin = cubin; }, "its cubin has no '"},
      {[&](auto& b, auto&) { b.gpu = "new", b.cubins.erase(cubin); },
       "/table.json: cells[0].cubin: there is no "},
      {[&](auto& b, auto&) { b.gpu = "new", b.cubins[cubin][99] ^= 1; }, "was changed or cut off"},
      {[&](auto& b, auto&) { b.canaries["ffma"] = nan; }, "/device.json: canaries.ffma: expected"},
      {[&](auto& b, auto&) { b.accepted["../x"]; }, "'../x' cannot be the name of a variant"},
      {[&](auto& b, auto&) { b.accepted["device"]; }, "cannot be called 'device'"},
      {[&](auto& b, auto&) { b.gpu = ".."; }, "'..' cannot be the name of a GPU"},
  };
  for (const auto& [fault, complaint] : faults) {
    Baseline b = good;
    fault(b, b.accepted["small"].cells[0]);
    const std::string message = message_of([&] { write_baseline(folder_, b, good); });
    EXPECT_NE(message.find(complaint), message.npos) << complaint << "\n" << message;
    EXPECT_EQ(message.find(".new-"), message.npos) << message;
    EXPECT_EQ(tree(folder_), before) << complaint;
  }
}

// Lets every file end after so many bytes, as a full disk would.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ShortFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST_F(Baselines, StayAsTheyWereOnAFullDisk) {
  Baseline b = some_baseline();
  const Baseline seen = b;
  write_baseline(folder_, b);
  const auto before = tree(folder_);
  b.accepted["small"].provenance.reason = "another";
  for (rlim_t bytes : {0, 100, 2000, 5000}) {
    std::string message;
    {
      const ShortFiles short_files(bytes);
      message = message_of([&] { write_baseline(folder_, b, seen); });
    }
    EXPECT_NE(message.find("cannot be written, and the baseline is as it was"), message.npos)
        << bytes << ": " << message;
    EXPECT_EQ(tree(folder_), before);
  }
  write_baseline(folder_, b, seen);
  EXPECT_EQ(read_baseline(folder_, b.gpu), b);
}

TEST_F(Baselines, CannotBeWrittenWhereAFileIs) {
  write_bytes(folder_ / "file", "");
  EXPECT_THROW(write_baseline(folder_ / "file", some_baseline()), BadInput);
  write_bytes(folder_ / "NVIDIA-H200", "kept");
  EXPECT_THROW(write_baseline(folder_, some_baseline()), BadInput);
  EXPECT_EQ(bytes_of(folder_ / "NVIDIA-H200"), "kept");
}

// Every stored cubin decodes, is what its record says, and has a recipe that can be read.
TEST(StoredBaselines, AreWhole) {
  ASSERT_FALSE(stored_gpus(ASSAY_BASELINES).empty());
  for (const std::string& gpu : stored_gpus(ASSAY_BASELINES)) {
    SCOPED_TRACE(gpu);
    EXPECT_NO_THROW(read_baseline(ASSAY_BASELINES, gpu));
  }
}

}  // namespace
