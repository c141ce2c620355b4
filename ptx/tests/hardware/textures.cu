// Textures, on the machine or on a GPU: which texels coordinates name at, across and beyond every
// edge, what becomes of their bits, and the errors of textures, arrays and copies that CUDA
// refuses.
//
//   on a GPU: nvcc -std=c++20 -I. -arch=sm_90 ptx/tests/hardware/textures.cu -o textures &&
//   ./textures
//
// Prints a line for each scene, and below it what is not as it should be: on an H100, driver
// 580.159.04, CUDA 13.0. Exits with 1 if anything is not.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ptx/tests/hardware/scenes.h"

namespace {

using hardware::begin, hardware::checked, hardware::end, hardware::wrong;

void check(const char* call, cudaError_t error, cudaError_t wanted) {
  ++checked;
  cudaGetLastError();
  if (error == wanted) return;
  ++wrong;
  std::printf("  %s: %s instead of %s\n", call, cudaGetErrorName(error), cudaGetErrorName(wanted));
}
#define CHECK(wanted, ...) check(#__VA_ARGS__, __VA_ARGS__, wanted)
#define NEED(...) check(#__VA_ARGS__, __VA_ARGS__, cudaSuccess)

constexpr cudaError_t fine = cudaSuccess, invalid = cudaErrorInvalidValue;

// ---- Kernels: how a texture is read.
__global__ void by_integer(cudaTextureObject_t t, float x, float, float4* to) {
  *to = tex1Dfetch<float4>(t, static_cast<int>(x));
}
__global__ void by_one(cudaTextureObject_t t, float x, float, float4* to) {
  *to = tex1D<float4>(t, x);
}
__global__ void by_two(cudaTextureObject_t t, float x, float y, float4* to) {
  *to = tex2D<float4>(t, x, y);
}
__global__ void by_two_integers(cudaTextureObject_t t, float x, float y, float4* to) {
  asm("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=f"(to->x), "=f"(to->y), "=f"(to->z), "=f"(to->w)
      : "l"(t), "r"(static_cast<int>(x)), "r"(static_cast<int>(y)));
}
__global__ void sizes(cudaTextureObject_t t, float, float, float4* to) {
  unsigned width = 0, height = 0;
  asm("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(t));
  asm("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(t));
  *to = make_float4(width, height, 0, 0);
}
using Read = void (*)(cudaTextureObject_t, float, float, float4*);

char* memory = nullptr;  // floats: 1, 2, 3, ...
float4* result = nullptr;

float4 read_by(Read kernel, cudaTextureObject_t t, float x, float y = 0) {
  float4 value = {};
  kernel<<<1, 1>>>(t, x, y, result);
  NEED(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
void check_texel(const char* what, const float4& is, const float4& wanted) {
  ++checked;
  if (std::memcmp(&is, &wanted, sizeof is) == 0) return;
  ++wrong;
  std::printf("  %s: %g %g %g %g instead of %g %g %g %g\n", what, is.x, is.y, is.z, is.w, wanted.x,
              wanted.y, wanted.z, wanted.w);
}

// ---- Resources, and how they are read.
cudaChannelFormatDesc format(int channels, int bits, cudaChannelFormatKind kind) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}
const cudaChannelFormatDesc floats = format(1, 32, cudaChannelFormatKindFloat);

cudaResourceDesc linear(std::size_t bytes, const cudaChannelFormatDesc& desc = floats,
                        std::size_t off = 0) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory + off, desc, bytes};
  return resource;
}
cudaResourceDesc rows(std::size_t width, std::size_t height, std::size_t pitch,
                      std::size_t off = 0) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory + off, floats, width, height, pitch};
  return resource;
}
cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}
cudaTextureDesc reading(cudaTextureAddressMode edge = cudaAddressModeClamp,
                        bool is_normalised = false) {
  cudaTextureDesc desc = {};
  for (auto& mode : desc.addressMode) mode = edge;
  desc.normalizedCoords = is_normalised;
  desc.borderColor[0] = 77, desc.borderColor[1] = 78;
  return desc;
}
cudaTextureDesc fractions() {
  cudaTextureDesc desc = {};
  desc.readMode = cudaReadModeNormalizedFloat;
  return desc;
}
cudaTextureDesc filtered() {
  cudaTextureDesc desc = {};
  desc.filterMode = cudaFilterModeLinear;
  return desc;
}
cudaError_t made(const cudaResourceDesc& resource, const cudaTextureDesc& desc = reading()) {
  cudaTextureObject_t t = 0;
  const cudaError_t error = cudaCreateTextureObject(&t, &resource, &desc, nullptr);
  if (error == cudaSuccess) cudaDestroyTextureObject(t);
  return error;
}
struct Object {
  Object(const cudaResourceDesc& resource, const cudaTextureDesc& desc = reading()) {
    NEED(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
  }
  ~Object() { NEED(cudaDestroyTextureObject(t)); }
  cudaTextureObject_t t = 0;
};

constexpr auto wrap = cudaAddressModeWrap, clamp = cudaAddressModeClamp,
               mirror = cudaAddressModeMirror, border = cudaAddressModeBorder;

void check_linear_memory() {
  begin("plain memory");
  for (const auto edge : {wrap, clamp, mirror, border})
    for (const bool is_normalised : {false, true}) {
      const Object o(linear(64), reading(edge, is_normalised));
      for (const float x : {-1.0f, 0.0f, 15.0f, 16.0f, 1e8f})
        check_texel("by_integer", read_by(by_integer, o.t, x),
                    {x >= 0 && x < 16 ? x + 1 : 0, 0, 0, 0});
      for (const float x : {-1.5f, 0.3f, 2.6f, 20.0f})
        check_texel("by_one", read_by(by_one, o.t, x), {});
      check_texel("by_two_integers", read_by(by_two_integers, o.t, 2, 0), {});
    }
  const Object o(linear(62));
  check_texel("sizes", read_by(sizes, o.t, 0), {15, 0, 0, 0});
  check_texel("beyond the last whole one", read_by(by_integer, o.t, 15), {});
  end();
}

struct Place {
  float x;
  int unnormalised, normalised;  // columns of 10; -1: the border
};

// Of rows of 10, the pitch 16, row 0: values are columns + 1.
void check_edges(const char* scene, const cudaResourceDesc& resource) {
  begin(scene);
  const float none = std::nanf(""), all = INFINITY;
  const auto check_all = [&](cudaTextureAddressMode edge, const std::vector<Place>& places) {
    const Object plain(resource, reading(edge)), normalised(resource, reading(edge, true));
    const auto texel = [](int column) -> float4 {
      return {column < 0 ? 77.0f : static_cast<float>(column + 1), 0, 0, 0};
    };
    for (const Place& p : places) {
      char what[64];
      std::snprintf(what, sizeof what, "edge %d at %.9g", static_cast<int>(edge), p.x);
      check_texel(what, read_by(by_two, plain.t, p.x), texel(p.unnormalised));
      check_texel(what, read_by(by_one, plain.t, p.x), texel(p.unnormalised));
      check_texel(what, read_by(by_two, normalised.t, p.x), texel(p.normalised));
    }
  };
  check_all(wrap, {{-0.51f, 0, 4},
                   {-0.01f, 0, 9},
                   {-1e-8f, 0, 9},
                   {0.5f, 0, 5},
                   {0.2f, 0, 1},
                   {0.99f, 0, 9},
                   {1.2f, 1, 1},
                   {3.7f, 3, 6},
                   {9.6f, 9, 6},
                   {10, 9, 0},
                   {12.5f, 9, 5},
                   {all, 9, 0},
                   {none, 0, 0}});
  check_all(mirror, {{-0.51f, 0, 5},
                     {-0.01f, 0, 0},
                     {-1e-8f, 0, 0},
                     {0.5f, 0, 5},
                     {0.99f, 0, 9},
                     {1.2f, 1, 8},
                     {3.7f, 3, 3},
                     {9.6f, 9, 3},
                     {10, 9, 0},
                     {12.5f, 9, 5},
                     {all, 9, 0},
                     {none, 0, 0}});
  check_all(clamp, {{-0.51f, 0, 0},
                    {-0.01f, 0, 0},
                    {-1e-8f, 0, 0},
                    {0.5f, 0, 5},
                    {0.2f, 0, 1},
                    {0.99f, 0, 9},
                    {1.2f, 1, 9},
                    {2.9999998f, 2, 9},
                    {3.7f, 3, 9},
                    {10, 9, 9},
                    {12.5f, 9, 9},
                    {all, 9, 9},
                    {none, 0, 0}});
  check_all(border, {{-0.51f, -1, -1},
                     {-1e-8f, -1, -1},
                     {0.5f, 0, 5},
                     {0.99f, 0, 9},
                     {1.2f, 1, -1},
                     {9.6f, 9, -1},
                     {10, -1, -1},
                     {all, -1, -1},
                     {none, 0, 0}});
  const Object o(resource, reading(border));
  for (const float x : {-1.0f, 0.0f, 9.0f, 10.0f})
    check_texel("by_two_integers", read_by(by_two_integers, o.t, x, 0),
                {x >= 0 && x < 10 ? x + 1 : 0, 0, 0, 0});
  check_texel("a row before", read_by(by_two_integers, o.t, 1, -1), {});
  check_texel("by_integer", read_by(by_integer, o.t, 2), {});
  end();
}

void check_rows(const char* scene, const cudaResourceDesc& resource) {
  begin(scene);
  const Object clamped(resource, reading(clamp)), bordered(resource, reading(border));
  for (const float y : {-1.0f, 0.5f, 3.99f, 4.0f}) {
    const float row = std::fmin(std::fmax(std::floor(y), 0), 3);
    check_texel("clamped", read_by(by_two, clamped.t, 2, y), {row * 16 + 3, 0, 0, 0});
    const bool is_inside = y >= 0 && y < 4;
    check_texel("bordered", read_by(by_two, bordered.t, 2, y),
                {is_inside ? row * 16 + 3 : 77, 0, 0, 0});
  }
  check_texel("sizes", read_by(sizes, clamped.t, 0), {10, 4, 0, 0});
  end();
}

// Of the floats 1 and 2: bytes 00 00 80 3f, 00 00 00 40.
void check_channels() {
  begin("channels");
  const auto read = [](int channels, int bits, cudaChannelFormatKind kind, int x,
                       const cudaTextureDesc& desc) {
    const Object o(linear(64, format(channels, bits, kind)), desc);
    return read_by(by_integer, o.t, static_cast<float>(x));
  };
  const auto as_float = [](unsigned bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  const auto real = cudaChannelFormatKindFloat, with_sign = cudaChannelFormatKindSigned,
             without = cudaChannelFormatKindUnsigned;
  check_texel("2 floats", read(2, 32, real, 1, reading()), {3, 4, 0, 0});
  check_texel("4 floats", read(4, 32, real, 1, reading()), {5, 6, 7, 8});
  check_texel("2 bytes", read(2, 8, without, 1, reading()), {as_float(0x80), as_float(0x3f), 0, 0});
  check_texel("2 bytes with sign", read(2, 8, with_sign, 1, reading()),
              {as_float(0xffffff80), as_float(0x3f), 0, 0});
  check_texel("fractions of bytes", read(2, 8, without, 1, fractions()),
              {128.0f / 255, 63.0f / 255, 0, 0});
  check_texel("fractions with sign", read(2, 8, with_sign, 1, fractions()),
              {-1, 63.0f / 127, 0, 0});
  check_texel("fractions of 16 bits", read(2, 16, without, 1, fractions()),
              {0, 16384.0f / 65535, 0, 0});
  check_texel("those with sign", read(2, 16, with_sign, 1, fractions()),
              {0, 16384.0f / 32767, 0, 0});
  check_texel("2 halves", read(2, 16, real, 1, reading()), {0, 2, 0, 0});
  end();
}

void check_errors() {
  begin("textures that are refused");
  for (const std::size_t off : {4, 32, 128, 256}) {
    CHECK(invalid, made(linear(1024, floats, off)));
    CHECK(invalid, made(rows(8, 8, 64, off)));
  }
  CHECK(fine, made(linear(1024, floats, 512)));
  constexpr std::size_t most = std::size_t{1} << 32;
  const auto quads = format(4, 32, cudaChannelFormatKindFloat),
             bytes = format(1, 8, cudaChannelFormatKindUnsigned);
  CHECK(fine, made(linear(most)));
  CHECK(invalid, made(linear(most + 4)));
  CHECK(fine, made(linear(most, quads)));
  CHECK(invalid, made(linear(most + 16, quads)));
  CHECK(fine, made(linear(most / 4, bytes)));
  CHECK(invalid, made(linear(most / 4 + 1, bytes)));
  CHECK(fine, made(linear(3)));
  CHECK(fine, made(rows(131072, 8, 524288)));
  CHECK(invalid, made(rows(131073, 8, 524320)));
  CHECK(fine, made(rows(8, 65000, 32)));
  CHECK(invalid, made(rows(8, 65001, 32)));
  CHECK(fine, made(rows(8, 8, 2097120)));
  CHECK(invalid, made(rows(8, 8, 2097152)));
  CHECK(invalid, made(rows(8, 8, 48)));
  CHECK(fine, made(rows(20, 8, 64)));
  CHECK(cudaErrorInvalidChannelDescriptor, made(linear(64, format(3, 32, quads.f))));
  CHECK(cudaErrorInvalidChannelDescriptor, made(linear(64, format(1, 8, quads.f))));
  CHECK(cudaErrorInvalidNormSetting, made(linear(64), fractions()));
  CHECK(cudaErrorInvalidFilterSetting, made(linear(64, bytes), filtered()));
  CHECK(fine, made(linear(64), filtered()));
  CHECK(fine, cudaDestroyTextureObject(999));
  cudaResourceDesc told = {};
  CHECK(invalid, cudaGetTextureObjectResourceDesc(&told, 999));
  for (const auto& [desc, texels] :
       {std::pair{floats, most / 4}, {quads, most / 16}, {bytes, most / 4}}) {
    std::size_t widest = 0;
    CHECK(fine, cudaDeviceGetTexture1DLinearMaxWidth(&widest, &desc, 0));
    CHECK(fine, widest == texels ? cudaSuccess : invalid);
  }
  end();
}

void check_arrays(cudaArray_t array, cudaArray_t row) {
  begin("arrays and copies that are refused");
  cudaArray_t other = nullptr;
  const auto triples = format(3, 32, cudaChannelFormatKindFloat);
  CHECK(invalid, cudaMallocArray(&other, &floats, 0, 4));
  CHECK(invalid, cudaMallocArray(&other, &floats, 131073));
  CHECK(invalid, cudaMallocArray(&other, &floats, 8, 65537));
  CHECK(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&other, &triples, 4, 4));
  std::vector<float> host(1024, -1.0f);
  const auto copy = [&](cudaArray_t to, int x, int y, int pitch, int width, int height) {
    return cudaMemcpy2DToArray(to, x, y, host.data(), pitch, width, height, cudaMemcpyHostToDevice);
  };
  CHECK(invalid, copy(array, 0, 0, 64, 44, 4));
  CHECK(invalid, copy(array, 8, 1, 64, 36, 3));
  CHECK(invalid, copy(array, 0, 0, 64, 40, 5));
  CHECK(cudaErrorInvalidPitchValue, copy(array, 0, 0, 36, 40, 2));
  CHECK(invalid, copy(row, 0, 1, 64, 40, 1));
  CHECK(cudaErrorInvalidResourceHandle, copy(nullptr, 0, 0, 64, 4, 1));
  CHECK(cudaErrorInvalidResourceHandle, made(of_array(nullptr)));
  CHECK(fine, cudaMemcpy2DFromArray(host.data(), 64, array, 0, 0, 40, 4, cudaMemcpyDefault));
  CHECK(fine, host[0] == 1 && host[16] == 17 && host[10] == -1 ? cudaSuccess : invalid);
  cudaExtent extent = {};
  CHECK(fine, cudaArrayGetInfo(nullptr, &extent, nullptr, row));
  CHECK(fine, extent.width == 10 && extent.height == 0 ? cudaSuccess : invalid);
  end();
}

void check_captures() {
  begin("textures in a capture");
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  NEED(cudaStreamCreate(&stream));
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    NEED(cudaStreamBeginCapture(stream, mode));
    CHECK(cudaErrorStreamCaptureUnsupported, made(linear(64)));
    CHECK(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  }
  NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(fine, made(linear(64)));
  CHECK(fine, cudaStreamEndCapture(stream, &graph));
  end();
}

}  // namespace

int main() {
  std::vector<float> values(4096);
  for (int i = 0; i < 4096; ++i) values[i] = i + 1;
  NEED(cudaMalloc(&memory, 16384));
  NEED(cudaMalloc(&result, sizeof *result));
  NEED(cudaMemcpy(memory, values.data(), 16384, cudaMemcpyHostToDevice));
  cudaArray_t array = nullptr, row = nullptr;
  NEED(cudaMallocArray(&array, &floats, 10, 4));
  NEED(cudaMallocArray(&row, &floats, 10));
  NEED(cudaMemcpy2DToArray(array, 0, 0, memory, 64, 40, 4, cudaMemcpyDeviceToDevice));
  NEED(cudaMemcpy2DToArray(row, 0, 0, values.data(), 64, 40, 1, cudaMemcpyHostToDevice));

  check_linear_memory();
  check_edges("the edges of rows", rows(10, 4, 64));
  check_edges("the edges of an array", of_array(array));
  check_edges("the edges of an array of one row", of_array(row));
  check_rows("rows", rows(10, 4, 64));
  check_rows("the rows of an array", of_array(array));
  check_channels();
  check_errors();
  check_arrays(array, row);
  check_captures();
  NEED(cudaFreeArray(array));
  NEED(cudaFreeArray(row));
  return hardware::told();
}
