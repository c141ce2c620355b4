// Layers and planes of arrays, by textures and by surfaces: what coordinates name that lie inside,
// at an edge and beyond it, and what is made of arrays of these kinds. Prints what each gives.
#include <cuda_runtime.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

constexpr int width = 8, height = 4, depth = 3, most = 12;

#define FETCH_BY_INTEGERS(name, form)                                              \
  __device__ float name(cudaTextureObject_t t, int first, int second, int third) { \
    float x, y, z, w;                                                              \
    asm("tex." form ".v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"        \
        : "=f"(x), "=f"(y), "=f"(z), "=f"(w)                                       \
        : "l"(t), "r"(first), "r"(second), "r"(third));                            \
    return x;                                                                      \
  }
FETCH_BY_INTEGERS(fetched_by_integers, "a2d")  // a layer comes first
FETCH_BY_INTEGERS(fetched_from_planes, "3d")

__global__ void read_layers(cudaTextureObject_t t, cudaSurfaceObject_t, float* out) {
  *out++ = tex2DLayered<float>(t, 1.5f, 1.5f, 1);
  *out++ = tex2DLayered<float>(t, 1.5f, 1.5f, 7);
  *out++ = tex2DLayered<float>(t, 1.5f, 1.5f, -1);
  *out++ = tex2D<float>(t, 1.5f, 1.5f);
  *out++ = tex1DLayered<float>(t, 1.5f, 1);
  *out++ = tex3D<float>(t, 1.5f, 1.5f, 1.5f);
  *out++ = fetched_by_integers(t, 1, 2, 3);
  *out++ = fetched_by_integers(t, 9, 2, 3);
  *out++ = fetched_by_integers(t, 1, 8, 3);
}
__global__ void read_planes(cudaTextureObject_t t, cudaSurfaceObject_t, float* out) {
  *out++ = tex3D<float>(t, 1.5f, 2.5f, 1.5f);
  *out++ = tex3D<float>(t, 1.5f, 2.5f, 9.5f);
  *out++ = tex2D<float>(t, 1.5f, 2.5f);
  *out++ = tex2DLayered<float>(t, 1.5f, 2.5f, 1);
  *out++ = fetched_from_planes(t, 1, 2, 1);
  *out++ = fetched_from_planes(t, 1, 2, 5);
}
__global__ void read_surface(cudaTextureObject_t, cudaSurfaceObject_t s, float* out) {
  *out++ = surf2DLayeredread<float>(s, 4, 2, 1, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, 4 * 99, 2, 1, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, -4, 2, 1, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, 4, 99, 1, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, 4, 2, 9, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, 4, 2, -1, cudaBoundaryModeClamp);
  *out++ = surf2DLayeredread<float>(s, 32, 2, 1, cudaBoundaryModeZero);
  *out++ = surf2DLayeredread<float>(s, 4, 4, 1, cudaBoundaryModeZero);
  *out++ = surf2DLayeredread<float>(s, 4, 2, 3, cudaBoundaryModeZero);
  const float2 two = surf2DLayeredread<float2>(s, 8, 2, 1);
  *out++ = two.x, *out++ = two.y;
  *out++ = surf2Dread<float>(s, 4, 2);
}
__global__ void write_beyond(cudaTextureObject_t, cudaSurfaceObject_t s, float* out) {
  surf2DLayeredwrite(5.0f, s, 32, 2, 1, cudaBoundaryModeZero);
  surf2DLayeredwrite(6.0f, s, 4, 4, 1, cudaBoundaryModeZero);
  surf2DLayeredwrite(7.0f, s, 4, 2, 3, cudaBoundaryModeZero);
  surf2DLayeredwrite(8.0f, s, 8, 1, 2);
  *out = 0;
}

const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();

struct Made {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
};
// Elements 0, 1, 2, ...
Made made(unsigned flags) {
  Made its;
  cudaMalloc3DArray(&its.array, &floats, make_cudaExtent(width, height, depth), flags);
  std::vector<float> elements(width * height * depth);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(elements.data(), width * sizeof(float), width, height);
  copy.dstArray = its.array;
  copy.extent = make_cudaExtent(width, height, depth);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = its.array;
  cudaTextureDesc reading{};
  for (cudaTextureAddressMode& mode : reading.addressMode) mode = cudaAddressModeClamp;
  cudaCreateTextureObject(&its.texture, &resource, &reading, nullptr);
  cudaCreateSurfaceObject(&its.surface, &resource);
  return its;
}

void show(const char* what, void (*kernel)(cudaTextureObject_t, cudaSurfaceObject_t, float*),
          const Made& its, int count) {
  float* out = nullptr;
  cudaMallocManaged(&out, most * sizeof(float));
  kernel<<<1, 1>>>(its.texture, its.surface, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s", what, cudaGetErrorName(error));
  for (int i = 0; i < count; ++i) std::printf(" %g", out[i]);
  std::printf("\n");
  cudaFree(out);
}

void show_changes(const Made& its) {
  std::vector<float> elements(width * height * depth);
  cudaMemcpy3DParms copy{};
  copy.srcArray = its.array;
  copy.dstPtr = make_cudaPitchedPtr(elements.data(), width * sizeof(float), width, height);
  copy.extent = make_cudaExtent(width, height, depth);
  copy.kind = cudaMemcpyDeviceToHost;
  std::printf("copied back: %s", cudaGetErrorName(cudaMemcpy3D(&copy)));
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (elements[i] != static_cast<float>(i)) std::printf(" [%zu]=%g", i, elements[i]);
  std::printf("\n");
}

void try_array(std::size_t w, std::size_t h, std::size_t d, unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t error = cudaMalloc3DArray(&array, &floats, make_cudaExtent(w, h, d), flags);
  std::printf("array %zu x %zu x %zu, flags %u: %s\n", w, h, d, flags, cudaGetErrorName(error));
  if (error == cudaSuccess) cudaFreeArray(array);
}

}  // namespace

int main() {
  const Made layers = made(cudaArrayLayered | cudaArraySurfaceLoadStore);
  show("layers", read_layers, layers, 9);
  show("surface", read_surface, layers, 12);
  show("beyond", write_beyond, layers, 1);
  show_changes(layers);
  show("planes", read_planes, made(cudaArraySurfaceLoadStore), 6);
  for (const unsigned flags : {0u, 1u})
    for (const auto& [w, h, d] : {std::array{8, 8, 0},
                                  {8, 0, 2},
                                  {8, 8, 2048},
                                  {16384, 8, 2},
                                  {16385, 8, 2},
                                  {32768, 8, 2},
                                  {32769, 8, 2}})
      try_array(w, h, d, flags);
  try_array(8, 8, 2049, cudaArrayLayered);
}
