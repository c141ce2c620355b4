// The vector types, aligned as on a GPU, and dim3.
#pragma once

// ALIGN2 and ALIGN4 align the vectors of two and of four, in bytes. Vectors of one and three are
// aligned like their elements.
#define SIMT_VECTOR(T, NAME, ALIGN2, ALIGN4)                            \
  struct NAME##1 {                                                      \
    T x;                                                                \
  };                                                                    \
  struct alignas(ALIGN2) NAME##2 {                                      \
    T x, y;                                                             \
  };                                                                    \
  struct NAME##3 {                                                      \
    T x, y, z;                                                          \
  };                                                                    \
  struct alignas(ALIGN4) NAME##4 {                                      \
    T x, y, z, w;                                                       \
  };                                                                    \
  constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                 \
  constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VECTOR(float, float, 8, 16)
SIMT_VECTOR(int, int, 8, 16)
SIMT_VECTOR(unsigned, uint, 8, 16)
SIMT_VECTOR(double, double, 16, 16)
#undef SIMT_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
