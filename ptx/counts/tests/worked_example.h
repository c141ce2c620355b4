// A product of 16 x 16 matrices by blocks of 4 x 4 threads, as an article counts it by hand.
#pragma once

namespace worked_example {

inline constexpr int n = 16;

enum class Kernel { x_walks_columns, x_walks_rows, tiled };
// c = a * b; returns the cudaError_t that it ends in.
int multiply(Kernel, const float* a, const float* b, float* c);

}  // namespace worked_example
