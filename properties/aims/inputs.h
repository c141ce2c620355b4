// The whole numbers of a case that may decide what a kernel compares: its sizes and the distances
// between rows.
#pragma once

#include <array>
#include <cstdint>

#include "oracle/case.h"

namespace assay {

struct Input {
  bool is_size;  // else a distance between rows
  std::int64_t (*get)(const Case&);
  void (*set)(Case&, std::int64_t);  // keeps to what is possible
  bool is_joint = false;             // several sizes, which are equal
};

inline constexpr std::array<Input, 6> inputs = {{
    {true, [](const Case& c) { return c.m; }, [](Case& c, std::int64_t v) { c.m = v; }},
    {true, [](const Case& c) { return c.n; }, [](Case& c, std::int64_t v) { c.n = v; }},
    {true, [](const Case& c) { return c.k; }, [](Case& c, std::int64_t v) { c.k = v; }},
    {false, [](const Case& c) { return c.k + c.lda.floats; },
     [](Case& c, std::int64_t v) { c.lda.floats = v < c.k ? 0 : v - c.k; }},
    {false, [](const Case& c) { return c.n + c.ldb.floats; },
     [](Case& c, std::int64_t v) { c.ldb.floats = v < c.n ? 0 : v - c.n; }},
    {false, [](const Case& c) { return c.n + c.ldc.floats; },
     [](Case& c, std::int64_t v) { c.ldc.floats = v < c.n ? 0 : v - c.n; }},
}};

// A kernel may compare a product of sizes: m n k, or the number of tiles.
inline constexpr std::array<Input, 2> joint_sizes = {{
    {true, [](const Case& c) { return c.m; }, [](Case& c, std::int64_t v) { c.m = c.n = c.k = v; },
     true},
    {true, [](const Case& c) { return c.m; }, [](Case& c, std::int64_t v) { c.m = c.n = v; }, true},
}};

inline Case with(Case c, const Input& input, std::int64_t value) {
  input.set(c, value);
  return c;
}

}  // namespace assay
