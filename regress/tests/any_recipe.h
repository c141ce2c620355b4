// Recipes drawn at random, with everything that one can hold.
#pragma once

#include <cstdint>
#include <random>

#include "regress/store/recipe.h"

namespace assay {

class RecipeSource {
 public:
  explicit RecipeSource(std::uint64_t seed) : random_(seed) {}

  // From `least` to `most`, often one of the two.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    if (random_() % 8 == 0) return random_() % 2 == 0 ? least : most;
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  Recipe recipe(int most_nodes = 3) {
    Recipe recipe{.workspace_bytes = number(0, 1) == 0 ? 0 : number(1, std::int64_t{1} << 40)};
    const std::int64_t count = number(0, most_nodes);
    for (std::int64_t i = 0; i < count; ++i) {
      recipe.nodes.push_back(number(0, 2) == 0 ? Node(memset()) : Node(kernel()));
    }
    return recipe;
  }

  KernelNode kernel() {
    KernelNode node;
    node.kernel = "_Z6kernel" + std::to_string(number(0, 9));
    node.code = std::to_string(number(0, 1000));
    // What a launch may have: 1024 threads, 16 blocks of a cluster, whole clusters.
    const auto length = [&](std::int64_t most) { return static_cast<unsigned>(number(1, most)); };
    node.block = {length(16), length(16), length(4)};
    node.cluster = {length(4), length(2), length(2)};
    node.grid = {length(2147483647 / 4), length(65535 / 2), length(65535 / 2)};
    for (std::size_t i = 0; i < 3; ++i) node.grid[i] *= node.cluster[i];
    node.shared_bytes = static_cast<unsigned>(number(0, 232448));
    node.most_shared_bytes = static_cast<int>(number(0, 232448));
    node.shared_carveout = static_cast<int>(number(-1, 100));
    node.cooperative = number(0, 1) == 1;
    node.starts_early = number(0, 1) == 1;
    draw_arguments(node);
    return node;
  }

  MemsetNode memset() {
    return {.operand = operand(),
            .displacement = displacement(),
            .value = static_cast<unsigned>(number(0, 4294967295)),
            .element_bytes = 1u << number(0, 2),
            .width = static_cast<std::uint64_t>(number(0, INT64_MAX)),
            .height = static_cast<std::uint64_t>(number(0, INT64_MAX)),
            .pitch = static_cast<std::uint64_t>(number(0, INT64_MAX))};
  }

 private:
  Operand operand() { return operands_and_workspace[static_cast<std::size_t>(number(0, 3))]; }
  std::int64_t displacement() { return number(0, 1) == 0 ? 0 : number(INT64_MIN, INT64_MAX); }

  // Bytes and pointers in turn, at even and at odd places.
  void draw_arguments(KernelNode& node) {
    const std::int64_t count = number(0, 8);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint32_t>(node.arguments.size());
      if (number(0, 1) == 0) {
        node.pointers.push_back({at, operand(), displacement()});
        node.arguments.resize(at + 8);
      } else {
        for (std::int64_t left = number(1, 20); left > 0; --left) {
          node.arguments.push_back(static_cast<std::uint8_t>(number(0, 255)));
        }
      }
      node.parameters.push_back({at, static_cast<std::uint32_t>(node.arguments.size() - at)});
    }
  }

  std::mt19937_64 random_;
};

}  // namespace assay
