// The vector types, with the alignment that they have on a GPU, and dim3.
#pragma once

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define SIMT_VECTOR(T, NAME, BYTES)                      \
  struct alignas(BYTES / 2) NAME##2 {                    \
    T x, y;                                              \
  };                                                     \
  struct NAME##3 {                                       \
    T x, y, z;                                           \
  };                                                     \
  struct alignas(BYTES) NAME##4 {                        \
    T x, y, z, w;                                        \
  };                                                     \
  constexpr NAME##2 make_##NAME##2(T x, T y) {           \
    return {x, y};                                       \
  }                                                      \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) {      \
    return {x, y, z};                                    \
  }                                                      \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                                 \
  }
SIMT_VECTOR(float, float, 16)
SIMT_VECTOR(int, int, 16)
#undef SIMT_VECTOR
