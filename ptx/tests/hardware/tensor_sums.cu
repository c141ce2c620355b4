// What tensor cores make of products that no FP32 sum holds: mma and wgmma of tf32, f16 and bf16
// into FP32 and halves, and wgmma of numbers of 8 bits, on data of several kinds. Prints what all
// results of each add up to.
//
//   on a GPU: nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a \
//             ptx/tests/hardware/tensor_sums.cu -o tensor_sums
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace {

enum class Type { tf32, f16, bf16, e4m3, e5m2 };
enum class Sum { f32, f16 };

struct Kind {
  const char* name;
  Type type;
  int k;
  Sum sum;
  bool is_of_group;  // wgmma, of 64 rows; else mma, of 16
  __device__ constexpr int per_register() const {
    return type == Type::tf32 ? 1 : type == Type::f16 || type == Type::bf16 ? 2 : 4;
  }
};
constexpr Kind kinds[] = {
    {"mma tf32, k = 8", Type::tf32, 8, Sum::f32, false},
    {"mma tf32, k = 4", Type::tf32, 4, Sum::f32, false},
    {"mma f16, k = 16", Type::f16, 16, Sum::f32, false},
    {"mma f16, k = 8", Type::f16, 8, Sum::f32, false},
    {"mma bf16, k = 16", Type::bf16, 16, Sum::f32, false},
    {"mma bf16, k = 8", Type::bf16, 8, Sum::f32, false},
    {"mma f16 into f16, k = 16", Type::f16, 16, Sum::f16, false},
    {"mma f16 into f16, k = 8", Type::f16, 8, Sum::f16, false},
    {"wgmma tf32", Type::tf32, 8, Sum::f32, true},
    {"wgmma f16", Type::f16, 16, Sum::f32, true},
    {"wgmma bf16", Type::bf16, 16, Sum::f32, true},
    {"wgmma f16 into f16", Type::f16, 16, Sum::f16, true},
    {"wgmma e4m3", Type::e4m3, 32, Sum::f32, true},
    {"wgmma e5m2", Type::e5m2, 32, Sum::f32, true},
};

struct Format {
  int exponent_bits, fraction_bits, unused;  // the latter below the others
};
__device__ Format format_of(Type type) {
  switch (type) {
    case Type::tf32: return {8, 10, 13};
    case Type::f16: return {5, 10, 0};
    case Type::bf16: return {8, 7, 0};
    case Type::e4m3: return {4, 3, 0};
    default: return {5, 2, 0};
  }
}
__device__ Format format_of(Sum sum) {
  return sum == Sum::f16 ? Format{5, 10, 0} : Format{8, 23, 0};
}

// How exponents are chosen: all alike, close together, far apart, denormals, of one sign, and with
// infinities and NaN among them.
enum class Data { alike, close, far, denormal, positive, special };
constexpr const char* names_of_data[] = {"alike",    "close",    "far",
                                         "denormal", "positive", "special"};

__device__ uint64_t scrambled(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

__device__ uint32_t number(Format f, Data data, uint64_t random) {
  const int most = (1 << f.exponent_bits) - 1, one = most / 2;
  const int spread = f.exponent_bits == 8 ? 20 : one - 1;
  const auto among = [&](int count) { return static_cast<int>(random >> 32) % count; };
  int exponent = one;
  switch (data) {
    case Data::alike: break;
    case Data::close: exponent += among(7) - 3; break;
    case Data::far: exponent += among(2 * spread + 1) - spread; break;
    case Data::denormal: exponent = among(3); break;
    case Data::positive: exponent += among(2) - 1; break;
    case Data::special:
      exponent = among(16) == 0 && f.exponent_bits != 4 ? most : one + among(3);
      break;
  }
  const bool is_zero = data == Data::close && (random >> 24 & 7) == 0;
  const uint32_t fraction = (random >> 20 & 3) == 0 ? 0 : random & ((1u << f.fraction_bits) - 1);
  const uint32_t sign = data == Data::positive ? 0 : random >> 63;
  const uint32_t bits = is_zero ? 0
                                : sign << (f.exponent_bits + f.fraction_bits) |
                                      static_cast<uint32_t>(exponent) << f.fraction_bits | fraction;
  return bits << f.unused | (static_cast<uint32_t>(random >> 8) & ((1u << f.unused) - 1));
}

struct Registers {
  uint32_t a[4] = {}, b[2] = {}, sums[4] = {};
};

#define SUMS "+r"(r.sums[0]), "+r"(r.sums[1]), "+r"(r.sums[2]), "+r"(r.sums[3])
#define HALVES "+r"(r.sums[0]), "+r"(r.sums[1])
#define FOUR "r"(r.a[0]), "r"(r.a[1]), "r"(r.a[2]), "r"(r.a[3])
#define MMA(shape, sums, a, b, outputs, ...)                                          \
  asm volatile("mma.sync.aligned." shape " {" sums "}, {" a "}, {" b "}, {" sums "};" \
               : outputs                                                              \
               : __VA_ARGS__)
#define MMA_4(shape) \
  MMA(shape, "%0,%1,%2,%3", "%4,%5,%6,%7", "%8,%9", SUMS, FOUR, "r"(r.b[0]), "r"(r.b[1]))
#define MMA_2(shape) \
  MMA(shape, "%0,%1,%2,%3", "%4,%5", "%6", SUMS, "r"(r.a[0]), "r"(r.a[1]), "r"(r.b[0]))
#define MMA_INTO_HALVES_4(shape) \
  MMA(shape, "%0,%1", "%2,%3,%4,%5", "%6,%7", HALVES, FOUR, "r"(r.b[0]), "r"(r.b[1]))
#define MMA_INTO_HALVES_2(shape) \
  MMA(shape, "%0,%1", "%2,%3", "%4", HALVES, "r"(r.a[0]), "r"(r.a[1]), "r"(r.b[0]))
#define GROUP(shape, sums, a, b, last, outputs)                                         \
  asm volatile(                                                                         \
      "{\n.reg .pred p;\nsetp.eq.b32 p, 0, 0;\nwgmma.fence.sync.aligned;\n"             \
      "wgmma.mma_async.sync.aligned." shape " {" sums "}, {" a "}, " b ", p, 1, 1" last \
      ";\nwgmma.commit_group.sync.aligned;\n"                                           \
      "wgmma.wait_group.sync.aligned 0;\n}"                                             \
      : outputs                                                                         \
      : FOUR, "l"(descriptor)                                                           \
      : "memory")
#define WGMMA(shape, last) GROUP(shape, "%0,%1,%2,%3", "%4,%5,%6,%7", "%8", last, SUMS)
#define WGMMA_INTO_HALVES(shape) GROUP(shape, "%0,%1", "%2,%3,%4,%5", "%6", ", 0", HALVES)

template <int n>
__device__ void multiply(Registers& r, uint64_t descriptor) {
  if constexpr (n == 0) MMA_4("m16n8k8.row.col.f32.tf32.tf32.f32");
  if constexpr (n == 1) MMA_2("m16n8k4.row.col.f32.tf32.tf32.f32");
  if constexpr (n == 2) MMA_4("m16n8k16.row.col.f32.f16.f16.f32");
  if constexpr (n == 3) MMA_2("m16n8k8.row.col.f32.f16.f16.f32");
  if constexpr (n == 4) MMA_4("m16n8k16.row.col.f32.bf16.bf16.f32");
  if constexpr (n == 5) MMA_2("m16n8k8.row.col.f32.bf16.bf16.f32");
  if constexpr (n == 6) MMA_INTO_HALVES_4("m16n8k16.row.col.f16.f16.f16.f16");
  if constexpr (n == 7) MMA_INTO_HALVES_2("m16n8k8.row.col.f16.f16.f16.f16");
  if constexpr (n == 8) WGMMA("m64n8k8.f32.tf32.tf32", "");
  if constexpr (n == 9) WGMMA("m64n8k16.f32.f16.f16", ", 0");
  if constexpr (n == 10) WGMMA("m64n8k16.f32.bf16.bf16", ", 0");
  if constexpr (n == 11) WGMMA_INTO_HALVES("m64n8k16.f16.f16.f16");
  if constexpr (n == 12) WGMMA("m64n8k32.f32.e4m3.e4m3", "");
  if constexpr (n == 13) WGMMA("m64n8k32.f32.e5m2.e5m2", "");
}

// Each block is one operation, on data of its own: whole registers of random elements.
template <int n>
__global__ void add_up(Data data, unsigned long long* checksums) {
  constexpr Kind kind = kinds[n];
  constexpr int per_register = kind.per_register(), bits = 32 / per_register;
  const uint64_t seed = scrambled(blockIdx.x * 64 + n * 8 + static_cast<int>(data));
  const auto random = [&](int place) { return scrambled(seed + place * 0x9e3779b97f4a7c15u); };
  const Format format = format_of(kind.type);
  const Data data_of_b = data == Data::denormal ? Data::close : data;
  const auto elements = [&](int first, Data how) {
    uint32_t word = 0;
    for (int e = 0; e < per_register; ++e)
      word |= number(format, how, random(first + e)) << e * bits;
    return word;
  };
  Registers r;
  const int thread = threadIdx.x, b_from = 4096, sums_from = 8192;
  for (int i = 0; i < 4; ++i) r.a[i] = elements((thread * 4 + i) * 4, data);
  for (int i = 0; i < 2; ++i) r.b[i] = elements(b_from + (thread * 2 + i) * 4, data_of_b);
  const auto sum = [&](int i) {
    const int place = sums_from + thread * 4 + i;
    return random(place) % 3 == 0 ? 0
                                  : number(format_of(kind.sum), data_of_b, random(place + 1000));
  };
  for (int i = 0; i < 4; ++i)
    r.sums[i] = kind.sum == Sum::f16 ? sum(i) | sum(i + 512) << 16 : sum(i);

  __shared__ alignas(128) uint32_t columns[64];  // 8 columns of 32 bytes: two pieces of 16 each
  uint64_t descriptor = 0;
  if constexpr (kind.is_of_group) {
    if (thread < 64) columns[thread] = elements(b_from + thread * 4, data_of_b);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const auto first = static_cast<uint32_t>(__cvta_generic_to_shared(columns));
    descriptor = first >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{128 >> 4} << 32;
  }
  multiply<n>(r, descriptor);
  const int words = kind.sum == Sum::f16 ? 2 : 4;
  for (int i = 0; i < words; ++i) {
    const unsigned long long result = r.sums[i];
    atomicAdd(checksums, result);
    atomicAdd(checksums + 1, (result + 1) * (scrambled(blockIdx.x * 512 + thread * 4 + i) >> 40));
  }
}

template <int n>
void show() {
  constexpr int operations = kinds[n].is_of_group ? 256 : 512;
  unsigned long long* checksums = nullptr;
  cudaMallocManaged(&checksums, 2 * sizeof *checksums);
  for (int data = 0; data < 6; ++data) {
    checksums[0] = checksums[1] = 0;
    add_up<n><<<operations, kinds[n].is_of_group ? 128 : 32>>>(static_cast<Data>(data), checksums);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s, %s: %s %llx %llx\n", kinds[n].name, names_of_data[data],
                cudaGetErrorName(error), checksums[0], checksums[1]);
  }
  cudaFree(checksums);
}

template <int... n>
void show_all(std::integer_sequence<int, n...>) {
  (show<n>(), ...);
}

}  // namespace

int main() { show_all(std::make_integer_sequence<int, sizeof kinds / sizeof *kinds>()); }
