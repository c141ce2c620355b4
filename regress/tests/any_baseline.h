// A small baseline of cubins in data/, others drawn at random, and a folder to write them to.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/sha256.h"
#include "regress/code/cubin.h"
#include "regress/store/baseline.h"
#include "regress/store/baseline_json.h"
#include "regress/tests/any_recipe.h"

namespace assay {

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Puts a cubin of data/ into a baseline; returns its hash.
inline std::string add_cubin(Baseline& baseline, const std::string& file) {
  std::string bytes = bytes_of(std::filesystem::path(ASSAY_REGRESS_DATA) / file);
  std::string hash = sha256(bytes);
  baseline.cubins[hash] = std::move(bytes);
  return hash;
}

// Lets a node run the first kernel of a cubin.
inline void run_kernel(KernelNode& node, const Baseline& baseline, const std::string& hash) {
  const KernelCode kernel = read_cubin(baseline.cubins.at(hash)).kernels.front();
  node.kernel = kernel.symbol;
  node.code = kernel.code;
}

inline CellRecord some_cell(const Baseline& baseline, const std::string& hash, int size) {
  KernelNode node{.grid = {8, 1, 1}, .block = {128, 1, 1}};
  node.parameters = {{0, 8}};
  node.arguments.resize(8);
  node.pointers = {{0, Operand::c, 0}};
  run_kernel(node, baseline, hash);
  CellRecord cell;
  cell.problem = {.m = size, .n = size, .k = size};
  cell.recipe.nodes = {MemsetNode{.width = 64}, node};
  cell.cubin = hash;
  cell.time_us = 12.5;
  cell.tflops = 40.1;
  cell.to_baseline = {.value = 0.998, .low = 0.99, .high = 1.01, .processes = 12};
  cell.to_cublas = {.value = 2.5, .low = 2.25, .high = 2.75, .processes = 3};
  cell.process_spread = 0.002;
  cell.detectable = 0.01;
  cell.clock_mhz = 1980;
  cell.throttled = 4;
  return cell;
}

// Two variants, two cells and an anchor, on three cubins.
inline Baseline some_baseline() {
  Baseline b;
  b.gpu = "NVIDIA-H200";
  b.architecture = 90;
  b.device = {{"ecc", "on"}, {"multiprocessors", "132"}, {"power_limit_watts", "700"}};
  b.canaries = {{"ffma", 1.5}, {"l2", 2.25}};
  const std::string small = add_cubin(b, "small_90.cubin"), table = add_cubin(b, "table_90.cubin");
  const std::string old = add_cubin(b, "small_90_cuda12.cubin");
  b.accepted["small"].provenance = {.commit = "abc", .reason = "wider \"tiles\"\n"};
  b.accepted["table"].provenance =
      b.anchor["small"].provenance = {.commit = "0", .reason = "first"};
  b.accepted["small"].cells = {some_cell(b, small, 128), some_cell(b, small, 256)};
  b.accepted["table"].cells = {some_cell(b, table, 128)};
  b.anchor["small"].cells = {some_cell(b, old, 128)};
  return b;
}

// Draws everything that a baseline can hold.
class BaselineSource : public RecipeSource {
 public:
  using RecipeSource::RecipeSource;

  Baseline baseline() {
    Baseline b;
    b.gpu = "GPU" + std::to_string(number(0, 2));
    b.architecture = 90;
    for (std::int64_t i = number(0, 3); i > 0; --i) b.device["d" + word()] = word();
    for (std::int64_t i = number(0, 3); i > 0; --i) b.canaries["c" + word()] = positive();
    for (const char* file : {"small_80.cubin", "small_90.cubin", "table_90.cubin"}) {
      hashes_.push_back(add_cubin(b, file));
    }
    hashes_.erase(hashes_.begin());  // nobody uses the first
    for (std::int64_t i = number(0, 3); i > 0; --i) b.accepted[word()] = variant(b);
    for (std::int64_t i = number(0, 2); i > 0; --i) b.anchor[word()] = variant(b);
    if (number(0, 1) == 1) b.removed[word()] = {.provenance = {.reason = word()}};
    return b;
  }

 private:
  std::string word() { return "w" + std::to_string(number(0, 1000)); }
  double positive() {
    const std::int64_t exponent = number(-1070, 900);
    return std::ldexp(static_cast<double>(number(1, std::int64_t{1} << 53)),
                      static_cast<int>(exponent));
  }
  Ratio ratio() {
    if (number(0, 2) == 0) return {};
    double sorted[] = {positive(), positive(), positive()};
    std::sort(std::begin(sorted), std::end(sorted));
    return {sorted[1], sorted[0], sorted[2], static_cast<int>(number(1, 1000))};
  }
  CellRecord cell(const Baseline& b, std::int64_t size) {
    CellRecord cell;
    cell.problem = {.m = size, .n = number(0, 9999), .k = 1, .alpha = 0.1f};
    cell.recipe = recipe();
    stay_inside(cell);
    const std::string hash = hashes_[static_cast<std::size_t>(number(0, 1))];
    for (Node& node : cell.recipe.nodes) {
      if (auto* kernel = std::get_if<KernelNode>(&node)) {
        run_kernel(*kernel, b, hash);
        cell.cubin = hash;
      }
    }
    cell.time_us = positive();
    for (double* figure : {&cell.tflops, &cell.process_spread, &cell.detectable, &cell.clock_mhz}) {
      *figure = number(0, 3) == 0 ? 0 : positive();
    }
    for (Ratio* r : {&cell.to_baseline, &cell.to_anchor, &cell.to_cublas}) *r = ratio();
    cell.throttled = static_cast<std::uint64_t>(number(INT64_MIN, INT64_MAX));
    return cell;
  }
  // Whatever is drawn lies in the operands of its problem.
  static void stay_inside(CellRecord& cell) {
    const auto place = [&](Operand operand, std::int64_t& displacement) {
      const std::int64_t bytes = operand == Operand::workspace
                                     ? cell.recipe.workspace_bytes
                                     : bytes_of_operand(cell.problem, operand);
      displacement = bytes == 0 ? 0 : (displacement % bytes + bytes) % bytes;
      return bytes - displacement;
    };
    for (Node& node : cell.recipe.nodes) {
      if (auto* kernel = std::get_if<KernelNode>(&node)) {
        for (Pointer& pointer : kernel->pointers) place(pointer.operand, pointer.displacement);
        continue;
      }
      auto& set = std::get<MemsetNode>(node);
      set.width =
          static_cast<std::uint64_t>(place(set.operand, set.displacement)) / set.element_bytes;
      set.height = 1;
    }
  }
  VariantBaseline variant(const Baseline& b) {
    VariantBaseline v;
    v.provenance = {number(0, 1) == 1 ? word() : "", word(), word(), word(), word(),
                    "-O3 \"\\\t\n\x01 \u00e4",       "",     word(), "",     word()};
    for (std::int64_t i = number(0, 4); i > 0; --i) v.cells.push_back(cell(b, i));
    if (number(0, 1) == 1) v.not_watched["m=9999 n=1 k=1"] = word();
    if (!v.cells.empty() && number(0, 1) == 1) v.cells[0].commit = word();
    return v;
  }

  std::vector<std::string> hashes_;
};

// A folder baselines/ of its own for each test.
class BaselineFolder : public testing::Test {
 protected:
  BaselineFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "assay-baselines-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  ~BaselineFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

}  // namespace assay
