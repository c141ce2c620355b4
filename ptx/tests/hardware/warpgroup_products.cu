// Products of warpgroups (wgmma), on the machine or on a GPU: every width of n, every type, A from
// shared memory and from registers, and every layout that a descriptor may name: along k and across
// it, with each swizzle, at slices of swizzled rows, and where rows begin within a swizzled
// pattern. Elements are small integers, so that every sum is exact, and the host knows it.
//
//   on a GPU: nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a \
//             ptx/tests/hardware/warpgroup_products.cu -o products
//
// Prints PASS or FAIL for each kind of products; exits with 1 if anything is not as it should.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// UPn(M, S): M(0) S M(1) S ... M(n - 1).
// clang-format off
#define UP1(M, S) M(0)
#define UP2(M, S) UP1(M, S) S M(1)
#define UP3(M, S) UP2(M, S) S M(2)
#define UP4(M, S) UP3(M, S) S M(3)
#define UP5(M, S) UP4(M, S) S M(4)
#define UP6(M, S) UP5(M, S) S M(5)
#define UP7(M, S) UP6(M, S) S M(6)
#define UP8(M, S) UP7(M, S) S M(7)
#define UP9(M, S) UP8(M, S) S M(8)
#define UP10(M, S) UP9(M, S) S M(9)
#define UP11(M, S) UP10(M, S) S M(10)
#define UP12(M, S) UP11(M, S) S M(11)
#define UP13(M, S) UP12(M, S) S M(12)
#define UP14(M, S) UP13(M, S) S M(13)
#define UP15(M, S) UP14(M, S) S M(14)
#define UP16(M, S) UP15(M, S) S M(15)
#define UP17(M, S) UP16(M, S) S M(16)
#define UP18(M, S) UP17(M, S) S M(17)
#define UP19(M, S) UP18(M, S) S M(18)
#define UP20(M, S) UP19(M, S) S M(19)
#define UP21(M, S) UP20(M, S) S M(20)
#define UP22(M, S) UP21(M, S) S M(21)
#define UP23(M, S) UP22(M, S) S M(22)
#define UP24(M, S) UP23(M, S) S M(23)
#define UP25(M, S) UP24(M, S) S M(24)
#define UP26(M, S) UP25(M, S) S M(25)
#define UP27(M, S) UP26(M, S) S M(26)
#define UP28(M, S) UP27(M, S) S M(27)
#define UP29(M, S) UP28(M, S) S M(28)
#define UP30(M, S) UP29(M, S) S M(29)
#define UP31(M, S) UP30(M, S) S M(30)
#define UP32(M, S) UP31(M, S) S M(31)
// clang-format on

// Of group g, four registers, or two: what eight columns of the sums take.
#define FOUR(g) "x" #g "_0, x" #g "_1, x" #g "_2, x" #g "_3"
#define TWO(g) "x" #g "_0, x" #g "_1"
#define LOAD_FOUR(g) \
  ".reg .b32 x" #g "_<4>; ld.global.v4.b32 {" FOUR(g) "}, [q]; add.s64 q, q, 16;\n"
#define LOAD_TWO(g) ".reg .b32 x" #g "_<2>; ld.global.v2.b32 {" TWO(g) "}, [q]; add.s64 q, q, 8;\n"
#define STORE_FOUR(g) "st.global.v4.b32 [q], {" FOUR(g) "}; add.s64 q, q, 16;\n"
#define STORE_TWO(g) "st.global.v2.b32 [q], {" TWO(g) "}; add.s64 q, q, 8;\n"

// One product of n = 8 * UP columns: TYPES as the instruction names them, A as its operand, what
// follows the predicate, and inputs of the text beyond the first four.
#define MULTIPLY(UP, LIST, LOAD, STORE, SHAPE, TYPES, A, SCALES, ...) \
  asm volatile("{\n.reg .b64 q;\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\nmov.b64 q, %0;\n" UP(     \
                   LOAD, ) "wgmma.fence.sync.aligned;\n"                                         \
                           "wgmma.mma_async.sync.aligned." SHAPE "." TYPES " {" UP(              \
                               LIST, ", ") "}, " A ", %2, p" SCALES                              \
                                           ";\n"                                                 \
                                           "wgmma.commit_group.sync.aligned;\n"                  \
                                           "wgmma.wait_group.sync.aligned 0;\nmov.b64 q, %0;\n"  \
               UP(STORE, ) "}\n" ::"l"(given.sums),                                              \
               "l"(given.a), "l"(given.b), "r"(given.adds), ##__VA_ARGS__                        \
               : "memory")

#define OF_32_BITS(UP, ...) MULTIPLY(UP, FOUR, LOAD_FOUR, STORE_FOUR, __VA_ARGS__)
#define OF_16_BITS(UP, ...) MULTIPLY(UP, TWO, LOAD_TWO, STORE_TWO, __VA_ARGS__)
#define REGISTERS "r"(given.r[0]), "r"(given.r[1]), "r"(given.r[2]), "r"(given.r[3])

namespace {

enum class Type { tf32, bf16, f16, f16_alone, s8, u8, s8_u8, u8_s8 };
constexpr const char* names[] = {"tf32", "bf16", "f16",       "f16 into f16",
                                 "s8",   "u8",   "s8 and u8", "u8 and s8"};

int bytes_of(Type t) { return t == Type::tf32 ? 4 : t < Type::s8 ? 2 : 1; }
int k_of(Type t) { return 32 / bytes_of(t); }

// Of one thread.
struct Given {
  uint32_t* sums;
  uint64_t a, b;
  int adds;
  uint32_t r[4];
};

// Those of 16 bits may lie across k, and whole numbers take no scales.
template <int n, Type type, bool in_registers, int across_a, int across_b, int scale_a, int scale_b>
__device__ void multiply(const Given& given) {
#define HALVES(UP, N, TYPE, MULTIPLY_THEM, TYPES)                                               \
  if constexpr (n == N && type == TYPE) {                                                       \
    if constexpr (in_registers)                                                                 \
      MULTIPLY_THEM(UP, "m64n" #N "k16", TYPES, "{%4, %5, %6, %7}", ", %8, %9, %10", REGISTERS, \
                    "n"(scale_a), "n"(scale_b), "n"(across_b));                                 \
    else                                                                                        \
      MULTIPLY_THEM(UP, "m64n" #N "k16", TYPES, "%1", ", %4, %5, %6, %7", "n"(scale_a),         \
                    "n"(scale_b), "n"(across_a), "n"(across_b));                                \
  }
#define FORM(UP, N)                                                                              \
  HALVES(UP, N, Type::bf16, OF_32_BITS, "f32.bf16.bf16")                                         \
  HALVES(UP, N, Type::f16, OF_32_BITS, "f32.f16.f16")                                            \
  HALVES(UP, N, Type::f16_alone, OF_16_BITS, "f16.f16.f16")                                      \
  if constexpr (n == N && type == Type::tf32) {                                                  \
    if constexpr (in_registers)                                                                  \
      OF_32_BITS(UP, "m64n" #N "k8", "f32.tf32.tf32", "{%4, %5, %6, %7}", ", %8, %9", REGISTERS, \
                 "n"(scale_a), "n"(scale_b));                                                    \
    else                                                                                         \
      OF_32_BITS(UP, "m64n" #N "k8", "f32.tf32.tf32", "%1", ", %4, %5", "n"(scale_a),            \
                 "n"(scale_b));                                                                  \
  }
#define WHOLE(UP, N, TYPE, TYPES)                                                \
  if constexpr (n == N && type == TYPE) {                                        \
    if constexpr (in_registers)                                                  \
      OF_32_BITS(UP, "m64n" #N "k32", TYPES, "{%4, %5, %6, %7}", "", REGISTERS); \
    else                                                                         \
      OF_32_BITS(UP, "m64n" #N "k32", TYPES, "%1", "");                          \
  }
#define WHOLE_FORMS(UP, N)               \
  WHOLE(UP, N, Type::s8, "s32.s8.s8")    \
  WHOLE(UP, N, Type::u8, "s32.u8.u8")    \
  WHOLE(UP, N, Type::s8_u8, "s32.s8.u8") \
  WHOLE(UP, N, Type::u8_s8, "s32.u8.s8")
  // clang-format off
  FORM(UP1, 8) FORM(UP2, 16) FORM(UP3, 24) FORM(UP4, 32) FORM(UP5, 40) FORM(UP6, 48) FORM(UP7,
  56) FORM(UP8, 64) FORM(UP9, 72) FORM(UP10, 80) FORM(UP11, 88) FORM(UP12, 96) FORM(UP13, 104)
  FORM(UP14, 112) FORM(UP15, 120) FORM(UP16, 128) FORM(UP17, 136) FORM(UP18, 144) FORM(UP19,
  152) FORM(UP20, 160) FORM(UP21, 168) FORM(UP22, 176) FORM(UP23, 184) FORM(UP24, 192)
  FORM(UP25, 200) FORM(UP26, 208) FORM(UP27, 216) FORM(UP28, 224) FORM(UP29, 232) FORM(UP30,
  240) FORM(UP31, 248) FORM(UP32, 256)
  WHOLE_FORMS(UP1, 8) WHOLE_FORMS(UP2, 16) WHOLE_FORMS(UP3, 24) WHOLE_FORMS(UP4, 32)
  WHOLE_FORMS(UP6, 48) WHOLE_FORMS(UP8, 64) WHOLE_FORMS(UP10, 80) WHOLE_FORMS(UP12, 96)
  WHOLE_FORMS(UP14, 112) WHOLE_FORMS(UP16, 128) WHOLE_FORMS(UP18, 144) WHOLE_FORMS(UP20, 160)
  WHOLE_FORMS(UP22, 176) WHOLE_FORMS(UP24, 192) WHOLE_FORMS(UP26, 208) WHOLE_FORMS(UP28, 224)
  WHOLE_FORMS(UP30, 240) WHOLE_FORMS(UP32, 256)
  // clang-format on
}

constexpr int image_words = 12 * 1024, b_at = 8 * 1024;  // the former of shared memory

template <int n, Type type, bool in_registers, int across_a, int across_b, int scale_a, int scale_b>
__global__ void product(const uint32_t* image, uint64_t a, uint64_t b, const uint32_t* registers,
                        uint32_t* sums, int words_of_sums, int adds) {
  __shared__ alignas(1024) uint32_t shared[image_words];
  for (int i = threadIdx.x; i < image_words; i += blockDim.x) shared[i] = image[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const uint64_t first = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) >> 4;
  Given given{sums + threadIdx.x * words_of_sums, a + first, b + first, adds, {}};
  for (int i = 0; i < 4; ++i) given.r[i] = registers[threadIdx.x * 4 + i];
  multiply<n, type, in_registers, across_a, across_b, scale_a, scale_b>(given);
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("FAIL %s\n", cudaGetErrorName(error));
  std::exit(1);
}

// How the ISA lays out a matrix: pieces of 16 bytes, `together` of them swizzled (1: none are),
// eight across each other a unit. `leading` and `stride` as the descriptor has them, in bytes.
struct Placing {
  int together = 1, across_k = 0, leading = 0, stride = 0;
  int slice = 0;      // of 32 bytes, of swizzled rows along k
  int first_row = 0;  // of 128 bytes, at which the swizzled pattern begins

  static Placing tight(int together, int across_k, int lines, int elements) {
    const int unit = 128 * together,
              units = (lines + elements * together - 1) / (elements * together);
    if (!across_k) return {together, 0, together == 1 ? lines * 16 : 16, unit};
    return together == 1 ? Placing{1, 1, units * unit, unit}
                         : Placing{together, 1, unit, units * unit};
  }
  int place(int line, int p, int bytes) const {
    const int elements = 16 / bytes, row = (across_k ? p : line) % 8;
    const int piece = (across_k ? line : p) / elements + slice * 2;
    const int beyond = (across_k ? p : line) / 8, in_piece = (across_k ? line : p) % elements;
    if (together == 1)
      return row * 16 + in_piece * bytes +
             (across_k ? piece * stride + beyond * leading : beyond * stride + piece * leading);
    const int swizzled = piece % together ^ row * together / 8;
    return first_row * 128 + row * 16 * together + swizzled * 16 + in_piece * bytes +
           beyond * stride + piece / together * leading;
  }
  uint64_t descriptor(int at) const {
    const uint64_t mode = together == 1 ? 0 : together == 8 ? 1 : together == 4 ? 2 : 3;
    return static_cast<uint64_t>(at + first_row * 128 + slice * 32) >> 4 |
           static_cast<uint64_t>(leading / 16) << 16 | static_cast<uint64_t>(stride / 16) << 32 |
           static_cast<uint64_t>(first_row) << 49 | mode << 62;
  }
};

struct Form {
  int n;
  Type type;
  bool in_registers = false;
  int across_a = 0, across_b = 0, scale_a = 1, scale_b = 1;
  int together = 1, slice = 0, first_row = 0;
  bool adds = true;

  int bytes() const { return bytes_of(type); }
  int words_of_sums() const { return type == Type::f16_alone ? n / 4 : n / 2; }
  int a(int i, int p) const {
    return (i * 7 + p * 3) % 11 - (type == Type::u8 || type == Type::u8_s8 ? 0 : 5);
  }
  int b(int p, int j) const {
    return (p * 5 + j * 2) % 9 - (type == Type::u8 || type == Type::s8_u8 ? 0 : 4);
  }
  static int c(int i, int j) { return (i + 3 * j) % 13 - 6; }
  int sum(int i, int j) const {
    int sum = 0;
    for (int p = 0; p < k_of(type); ++p) sum += a(i, p) * b(p, j);
    return scale_a * scale_b * sum + (adds ? c(i, j) : 0);
  }
};

void put(char* to, Type type, int value) {
  const auto write = [&](auto v) { std::memcpy(to, &v, sizeof v); };
  const float real = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &real, 4);
  if (type == Type::tf32) write(real);
  if (type == Type::bf16) write(static_cast<uint16_t>(bits >> 16));
  if (type == Type::f16 || type == Type::f16_alone) write(__half_raw(__float2half(real)).x);
  if (type >= Type::s8) write(static_cast<int8_t>(value));
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* made = nullptr;
  check(cudaMalloc(&made, values.size() * sizeof(T)));
  check(cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return made;
}

// The sums in registers: thread, then register, as words; of 16 bits, two in each.
int byte_of_sum(const Form& f, int i, int j) {
  const int thread = i / 16 * 32 + i % 8 * 4 + j % 8 / 2;
  const int element = j / 8 * 4 + i % 16 / 8 * 2 + j % 2;
  return thread * f.words_of_sums() * 4 + element * (f.type == Type::f16_alone ? 2 : 4);
}
void put_sum(char* to, const Form& f, int value) {
  if (f.type >= Type::s8)
    std::memcpy(to, &value, 4);
  else
    put(to, f.type == Type::f16_alone ? Type::f16 : Type::tf32, value);
}

template <int n, Type type, bool in_registers, int across_a, int across_b, int scale_a, int scale_b>
bool is_right(Form f) {
  f.n = n, f.type = type, f.in_registers = in_registers, f.across_a = across_a,
  f.across_b = across_b, f.scale_a = scale_a, f.scale_b = scale_b;
  Placing a = Placing::tight(f.together, across_a, 64, 16 / f.bytes()),
          b = Placing::tight(f.together, across_b, n, 16 / f.bytes());
  a.slice = b.slice = f.slice, a.first_row = b.first_row = f.first_row;
  std::vector<uint32_t> image(image_words), registers(4 * 128), sums(128 * f.words_of_sums()),
      wanted;
  auto* const bytes = reinterpret_cast<char*>(image.data());
  for (int p = 0; p < k_of(type); ++p) {
    for (int i = 0; i < 64; ++i) {
      put(bytes + a.place(i, p, f.bytes()), type, f.a(i, p));
      const int at = p * f.bytes(), thread = i / 16 * 32 + i % 8 * 4 + at % 16 / 4;
      put(reinterpret_cast<char*>(&registers[thread * 4 + i % 16 / 8 + 2 * (at / 16)]) + at % 4,
          type, f.a(i, p));
    }
    for (int j = 0; j < n; ++j) put(bytes + b_at + b.place(j, p, f.bytes()), type, f.b(p, j));
  }
  wanted = sums;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < n; ++j) {
      put_sum(reinterpret_cast<char*>(sums.data()) + byte_of_sum(f, i, j), f, Form::c(i, j));
      put_sum(reinterpret_cast<char*>(wanted.data()) + byte_of_sum(f, i, j), f, f.sum(i, j));
    }
  uint32_t *const d_image = on_device(image), *const d_registers = on_device(registers),
                  *const d_sums = on_device(sums);
  product<n, type, in_registers, across_a, across_b, scale_a, scale_b><<<1, 128>>>(
      d_image, a.descriptor(0), b.descriptor(b_at), d_registers, d_sums, f.words_of_sums(), f.adds);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(sums.data(), d_sums, sums.size() * 4, cudaMemcpyDeviceToHost));
  for (uint32_t* const p : {d_image, d_registers, d_sums}) check(cudaFree(p));
  if (sums == wanted) return true;
  std::printf("  n %d of %s, %d swizzled together, slice %d, from row %d on%s%s%s\n", n,
              names[static_cast<int>(type)], f.together, f.slice, f.first_row,
              in_registers ? ", A in registers" : "", across_a ? ", A across k" : "",
              across_b ? ", B across k" : "");
  return false;
}

// Several kinds of products, and whether all are right.
struct Tally {
  int products = 0;
  bool is_right = true;
  void add(bool right) { ++products, is_right &= right; }
};

constexpr int togethers[] = {1, 2, 4, 8};

template <int n, Type type>
void with_each_swizzle(Tally& tally) {
  for (const int together : togethers) {
    tally.add(is_right<n, type, false, 0, 0, 1, 1>({.together = together}));
    tally.add(is_right<n, type, true, 0, 0, 1, 1>({.together = together}));
    tally.add(is_right<n, type, false, 0, 0, 1, 1>({.together = together, .adds = false}));
  }
}
template <Type type>
void of_some_widths(Tally& tally) {
  with_each_swizzle<8, type>(tally);
  with_each_swizzle<24, type>(tally);
  with_each_swizzle<64, type>(tally);
  with_each_swizzle<256, type>(tally);
}
template <int... n>
void of_all_widths(Tally& tally) {
  (tally.add(is_right<n, Type::bf16, false, 0, 0, 1, 1>({.together = 8})), ...);
}
template <int n, Type type>
void across_k(Tally& tally) {
  for (const int together : togethers) {
    tally.add(is_right<n, type, false, 0, 1, 1, 1>({.together = together}));
    tally.add(is_right<n, type, false, 1, 0, 1, 1>({.together = together}));
    tally.add(is_right<n, type, false, 1, 1, 1, 1>({.together = together}));
    tally.add(is_right<n, type, true, 0, 1, 1, 1>({.together = together}));
  }
}
template <Type type>
void negated(Tally& tally) {
  tally.add(is_right<64, type, false, 0, 0, -1, 1>({}));
  tally.add(is_right<64, type, false, 0, 0, 1, -1>({}));
  tally.add(is_right<64, type, false, 0, 0, -1, -1>({}));
}
template <Type type>
void at_slices(Tally& tally) {
  for (const int together : togethers)
    for (int slice = 1; slice < together / 2; ++slice)
      tally.add(is_right<64, type, false, 0, 0, 1, 1>({.together = together, .slice = slice}));
}
void within_patterns(Tally& tally) {
  for (const int row : {1, 2, 5, 7})
    tally.add(is_right<64, Type::bf16, false, 0, 0, 1, 1>({.together = 8, .first_row = row}));
}

bool all_pass = true;
template <class Kind>
void judge(const char* what, const Kind& kind) {
  Tally tally;
  kind(tally);
  std::printf("%s %s: %d products\n", tally.is_right ? "PASS" : "FAIL", what, tally.products);
  all_pass &= tally.is_right;
}

}  // namespace

int main() {
  judge("tf32", of_some_widths<Type::tf32>);
  judge("bf16", of_some_widths<Type::bf16>);
  judge("f16", of_some_widths<Type::f16>);
  judge("f16 into f16", of_some_widths<Type::f16_alone>);
  judge("s8", of_some_widths<Type::s8>);
  judge("u8", of_some_widths<Type::u8>);
  judge("s8 and u8", of_some_widths<Type::s8_u8>);
  judge("u8 and s8", of_some_widths<Type::u8_s8>);
  judge("bf16 of all widths",
        of_all_widths<8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144,
                      152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256>);
  judge("bf16 across k", [](Tally& t) {
    across_k<8, Type::bf16>(t), across_k<24, Type::bf16>(t), across_k<64, Type::bf16>(t),
        across_k<256, Type::bf16>(t);
  });
  judge("f16 across k", across_k<64, Type::f16>);
  judge("negated bf16", negated<Type::bf16>);
  judge("negated f16", negated<Type::f16>);
  judge("negated tf32", negated<Type::tf32>);
  judge("bf16 at slices of swizzled rows", at_slices<Type::bf16>);
  judge("tf32 at slices of swizzled rows", at_slices<Type::tf32>);
  judge("s8 at slices of swizzled rows", at_slices<Type::s8>);
  judge("bf16 within a swizzled pattern", within_patterns);
  return all_pass ? 0 : 1;
}
