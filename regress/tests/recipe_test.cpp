// What tells two launches apart, and recipes as JSON.
#include "regress/store/recipe.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "regress/store/recipe_json.h"
#include "regress/tests/any_recipe.h"

namespace {

using namespace assay;
using Json = nlohmann::ordered_json;

KernelNode tiled() {
  return {.kernel = "_Z5tiled4Gemm",
          .code = "aaaaaaaaaaaa",
          .grid = {64, 1, 1},
          .block = {32, 32, 1},
          .shared_bytes = 1024,
          .most_shared_bytes = 49152,
          .parameters = {{0, 24}, {24, 4}},
          .arguments = {0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,
                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f},
          .pointers = {{8, Operand::a, 0}, {16, Operand::c, -64}}};
}
MemsetNode cleared() {
  return {.operand = Operand::c, .displacement = 4, .value = 0, .element_bytes = 4, .width = 100};
}
Recipe recipe() { return {{cleared(), tiled()}}; }

TEST(RecipeJson, ReadsAsAPersonWouldWriteIt) {
  EXPECT_EQ(json_of(recipe()).dump(2), R"({
  "nodes": [
    {
      "memset": "C+4",
      "value": 0,
      "element_bytes": 4,
      "width": 100,
      "height": 1,
      "pitch": 0
    },
    {
      "kernel": "_Z5tiled4Gemm",
      "code": "aaaaaaaaaaaa",
      "grid": "64x1x1",
      "block": "32x32x1",
      "cluster": "1x1x1",
      "shared_bytes": 1024,
      "most_shared_bytes": 49152,
      "shared_carveout": -1,
      "cooperative": false,
      "parameters": "0+24 24+4",
      "arguments": [
        "0x0000000000000400",
        "A",
        "C-64",
        "0x3f800000"
      ]
    }
  ]
})");
}

RC_GTEST_PROP(RecipeJson, IsReadBackAsItWas, (std::uint64_t seed)) {
  const Recipe before = RecipeSource(seed).recipe();
  const Json json = json_of(before);
  const Recipe after = recipe_of(Json::parse(json.dump()), "r");
  RC_ASSERT(after == before);
  RC_ASSERT(json_of(after) == json);
}

// As a GPU places a tensor map behind a Gemm.
TEST(RecipeJson, TakesTheGapBeforeWhatIsAlignedOnTheDevice) {
  Recipe before{{tiled()}};
  auto& node = std::get<KernelNode>(before.nodes[0]);
  node.arguments.resize(240);
  node.parameters = {{0, 80}, {112, 128}};
  EXPECT_EQ(recipe_of(json_of(before), "r"), before);
  node.parameters = {{0, 80}, {120, 120}};
  EXPECT_THROW(recipe_of(json_of(before), "r"), BadInput);
}

TEST(RecipeJson, RefusesPointersThatOverlapOrStickOut) {
  for (std::uint32_t at : {4u, 12u, 24u, 100u}) {
    Recipe wrong{{tiled()}};
    std::get<KernelNode>(wrong.nodes[0]).pointers.push_back({at, Operand::b, 0});
    EXPECT_THROW(json_of(wrong), BadInput) << at;
  }
}

struct Damage {
  const char* pointer;
  Json value;
  const char* complaint;
};

TEST(RecipeJson, RefusesWhatWouldNotHaveBeenWritten) {
  const Damage all[] = {
      {"/nodes", 5, "r.nodes: expected a list"},
      {"/other", 5, "r: unknown field 'other'"},
      {"/nodes/0", "x", "r.nodes[0]: expected an object with kernel, code"},
      {"/nodes/0/memset", "D", "r.nodes[0].memset: expected A, B, C or workspace"},
      {"/nodes/0/memset", "c+4", "r.nodes[0].memset: expected A, B, C or workspace"},
      {"/nodes/0/memset", "C+0", "r.nodes[0].memset: expected A, B, C or workspace"},
      {"/nodes/0/memset", "C+-4", "r.nodes[0].memset: expected A, B, C or workspace"},
      {"/nodes/0/memset", "C+99999999999999999999",
       "r.nodes[0].memset: expected A, B, C or workspace"},
      {"/nodes/0/value", -1, "r.nodes[0].value: expected a whole number from 0 to 4294967295"},
      {"/nodes/0/value", 4294967296, "r.nodes[0].value: expected a whole number"},
      {"/nodes/0/element_bytes", 3, "r.nodes[0].element_bytes: expected 1, 2 or 4"},
      {"/nodes/0/width", 1.5, "r.nodes[0].width: expected a whole number"},
      {"/nodes/0/width", 18446744073709551615u, "r.nodes[0].width: expected a whole number"},
      {"/nodes/0/kernel", "k", "r.nodes[0]: unknown field 'kernel'"},
      {"/nodes/1/kernal", "k", "r.nodes[1]: unknown field 'kernal' (did you mean kernel?)"},
      {"/nodes/1/kernel", nullptr, "r.nodes[1].kernel: expected text"},
      {"/nodes/1/grid", "64", "r.nodes[1].grid: '64' should be three numbers from 1 on"},
      {"/nodes/1/grid", "64x0x1", "r.nodes[1].grid: '64x0x1' should be"},
      {"/nodes/1/grid", "064x1x1", "r.nodes[1].grid: '064x1x1' should be"},
      {"/nodes/1/grid", "64x1x1x1", "r.nodes[1].grid: '64x1x1x1' should be"},
      {"/nodes/1/block", "32x32x4294967297", "r.nodes[1].block: "},
      {"/nodes/1/block", "32x32x2147483648", "r.nodes[1].block: "},
      {"/nodes/1/block", "2000000000x2000000x1",
       "r.nodes[1].block: '2000000000x2000000x1' is more than 1024x1024x64"},
      {"/nodes/1/block", "1x1x65", "r.nodes[1].block: '1x1x65' is more than 1024x1024x64"},
      {"/nodes/1/block", "64x32x1", "r.nodes[1].block: '64x32x1' is more than 1024 in all"},
      {"/nodes/1/grid", "1x65536x1",
       "r.nodes[1].grid: '1x65536x1' is more than 2147483647x65535x65535"},
      {"/nodes/1/cluster", "32x1x1", "r.nodes[1].cluster: '32x1x1' is more than 16x16x16"},
      {"/nodes/1/cluster", "3x1x1", "r.nodes[1].cluster: '3x1x1' does not divide the grid 64x1x1"},
      {"/nodes/1/cluster", "-1x1x1", "r.nodes[1].cluster: "},
      {"/nodes/1/shared_bytes", -1, "r.nodes[1].shared_bytes: expected a whole number"},
      {"/nodes/1/shared_carveout", 101, "r.nodes[1].shared_carveout: expected a whole number"},
      {"/nodes/1/cooperative", 0, "r.nodes[1].cooperative: expected true or false"},
      {"/nodes/1/starts_early", 1, "r.nodes[1].starts_early: expected true or false"},
      {"/nodes/1/parameters", "0+24 24+5", "r.nodes[1].parameters: '24+5' lies outside of the 28"},
      {"/nodes/1/parameters", "0+0 0+28", "r.nodes[1].parameters: '0+0' should be"},
      {"/nodes/1/parameters", "",
       "r.nodes[1].parameters: '' leaves out byte 0 of the 28 bytes of arguments"},
      {"/nodes/1/parameters", "0+8", "r.nodes[1].parameters: '0+8' leaves out byte 8 of the 28"},
      {"/nodes/1/parameters", "0+24 24+3", "r.nodes[1].parameters: '0+24 24+3' leaves out byte 27"},
      {"/nodes/1/parameters", "24+4", "r.nodes[1].parameters: '24+4' leaves out byte 0 of the 28"},
      {"/nodes/1/parameters", "0+24 20+8", "r.nodes[1].parameters: '20+8' overlaps what is before"},
      {"/nodes/1/parameters", "4294967295+1", "r.nodes[1].parameters: "},
      {"/nodes/1/parameters", "0+24  24+4", "r.nodes[1].parameters: '' should be"},
      {"/nodes/1/parameters", "0+24 ", "r.nodes[1].parameters: expected parameters with one"},
      {"/nodes/1/parameters", "0-24", "r.nodes[1].parameters: '0-24' should be"},
      {"/nodes/1/arguments/0", "0x", "r.nodes[1].arguments[0]: '0x' should be up to eight bytes"},
      {"/nodes/1/arguments/0", "0x123", "r.nodes[1].arguments[0]: '0x123' should be"},
      {"/nodes/1/arguments/0", "0xABCD", "r.nodes[1].arguments[0]: '0xABCD' should be"},
      {"/nodes/1/arguments/0", "0x001122334455667788", "r.nodes[1].arguments[0]: "},
      {"/nodes/1/arguments/0", "0x-1", "r.nodes[1].arguments[0]: "},
      {"/nodes/1/arguments/0", "0x0x00", "r.nodes[1].arguments[0]: "},
      {"/nodes/1/arguments/1", "d", "r.nodes[1].arguments[1]: 'd' should be"},
      {"/nodes/1/arguments", Json::array_t(5000, "A"), "r.nodes[1].arguments: more arguments than"},
      {"/nodes/1/arguments/1", 7, "r.nodes[1].arguments[1]: expected text"},
  };
  const Json good = json_of(recipe());
  ASSERT_EQ(recipe_of(good, "r"), recipe());
  for (const Damage& damage : all) {
    Json json = good;
    json[Json::json_pointer(damage.pointer)] = damage.value;
    try {
      recipe_of(json, "r");
      ADD_FAILURE() << "believed: " << damage.pointer << " " << damage.value;
    } catch (const BadInput& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with(damage.complaint)) << e.what();
    }
  }
}

TEST(RecipeJson, RefusesARecipeWithoutOneOfItsFields) {
  const Json good = json_of(recipe());
  for (std::size_t node : {0, 1}) {
    for (const auto& [key, value] : good["nodes"][node].items()) {
      Json json = good;
      json["nodes"][node].erase(key);
      EXPECT_THROW(recipe_of(json, "r"), BadInput) << key;
    }
  }
  EXPECT_THROW(recipe_of(Json::object(), "r"), BadInput);
  EXPECT_THROW(recipe_of(Json(), "r"), BadInput);
}

TEST(SameLaunch, NeedsNoEqualSymbolsAndNoOrderOfPointers) {
  Recipe now = recipe();
  auto& kernel = std::get<KernelNode>(now.nodes[1]);
  kernel.kernel = "_Z5other4Gemm";
  std::swap(kernel.pointers[0], kernel.pointers[1]);
  EXPECT_EQ(difference(recipe(), now), "");
  EXPECT_TRUE(same_launch(recipe(), now));
}

TEST(Difference, SaysInWordsWhatEachFieldWas) {
  const std::pair<std::function<void(KernelNode&)>, const char*> changes[] = {
      {[](KernelNode& k) { k.code = "bbbbbbbbbbbb"; }, "machine code aaaaaaaa -> bbbbbbbb"},
      {[](KernelNode& k) {
         k.grid = {128, 1, 1};
       },
       "grid 64 -> 128"},
      {[](KernelNode& k) {
         k.grid = {64, 1, 2};
       },
       "grid 64 -> 64x1x2"},
      {[](KernelNode& k) {
         k.block = {1024, 1, 1};
       },
       "block 32x32 -> 1024"},
      {[](KernelNode& k) {
         k.cluster = {2, 1, 1};
       },
       "cluster 1 -> 2"},
      {[](KernelNode& k) { k.shared_bytes = 0; }, "dynamic shared bytes 1024 -> 0"},
      {[](KernelNode& k) { k.most_shared_bytes = 65536; },
       "limit of dynamic shared bytes 49152 -> 65536"},
      {[](KernelNode& k) { k.shared_carveout = 50; },
       "preferred shared memory in percent -1 -> 50"},
      {[](KernelNode& k) { k.cooperative = true; }, "cooperative no -> yes"},
      {[](KernelNode& k) { k.starts_early = true; }, "starts early no -> yes"},
      {[](KernelNode& k) { k.parameters.pop_back(); }, "parameters 0+24 24+4 -> 0+24"},
      {[](KernelNode& k) { k.arguments[0] = 1; },
       "argument at byte 0 0x0000000000000400 -> 0x0000000000000401"},
      {[](KernelNode& k) { k.arguments[0] = k.arguments[25] = 1; },
       "argument at byte 0 0x0000000000000400 -> 0x0000000000000401 and 1 more"},
      {[](KernelNode& k) { k.arguments.resize(24); },
       "bytes of arguments 28 -> 24, argument at byte 24 0x3f800000 -> nothing"},
      {[](KernelNode& k) { k.pointers[1].displacement = 64; }, "argument at byte 16 C-64 -> C+64"},
      {[](KernelNode& k) { k.pointers[0].operand = Operand::b; }, "argument at byte 8 A -> B"},
      {[](KernelNode& k) { k.pointers.pop_back(); },
       "argument at byte 16 C-64 -> 0x0000000000000000"},
      {[](KernelNode& k) {
         k.pointers.push_back({3, Operand::b, 0});
       },
       "where the arguments hold pointers"},
  };
  for (const auto& [change, words] : changes) {
    Recipe now{{tiled()}};
    change(std::get<KernelNode>(now.nodes[0]));
    EXPECT_EQ(difference({{tiled()}}, now), words);
    EXPECT_FALSE(same_launch({{tiled()}}, now)) << words;
    EXPECT_FALSE(same_launch(now, {{tiled()}})) << words;
  }
}

TEST(Difference, SaysInWordsWhatAMemsetWas) {
  MemsetNode other{.operand = Operand::b,
                   .displacement = 8,
                   .value = 1,
                   .element_bytes = 2,
                   .width = 50,
                   .height = 3,
                   .pitch = 400};
  EXPECT_EQ(difference({{cleared()}}, {{other}}),
            "memset of C -> B, displacement 4 -> 8, value 0 -> 1, bytes of an element 4 -> 2, "
            "width 100 -> 50, height 1 -> 3, pitch 0 -> 400");
}

TEST(Difference, NamesTheStepWhereThereAreSeveral) {
  Recipe now = recipe();
  std::get<KernelNode>(now.nodes[1]).grid = {128, 1, 1};
  EXPECT_EQ(difference(recipe(), now), "step 2: grid 64 -> 128");
  EXPECT_EQ(difference(recipe(), {{tiled(), tiled()}}), "step 1: a memset -> a kernel");
  EXPECT_EQ(difference({{tiled()}}, {{cleared()}}), "a kernel -> a memset");
  EXPECT_EQ(difference({{tiled()}}, {{tiled(), tiled()}}), "steps 1 -> 2");
  EXPECT_EQ(difference(recipe(), {}), "steps 2 -> 0");
  EXPECT_EQ(difference({}, {}), "");
}

RC_GTEST_PROP(Difference, IsEmptyForTheSameAndNothingElse, (std::uint64_t x, std::uint64_t y)) {
  const Recipe one = RecipeSource(x).recipe(), other = RecipeSource(y).recipe();
  RC_ASSERT(difference(one, one).empty());
  RC_ASSERT(same_launch(one, other) == (one == other));
}

}  // namespace
