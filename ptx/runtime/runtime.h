// The substitute CUDA runtime: what the functions of `ptx_cudart` forward to. Written without
// NVIDIA's headers, so that all of it can be tested without them.
//
// There is one device. Whatever is enqueued is executed at once, in the order of the calls, unless
// a Request lets launches meet. A missing wait between two streams is a finding all the same, where
// both touch the same memory; host code that touches device memory by itself faults where that is
// hidden (observe.h), and is not seen elsewhere. A failing call leaves its error behind for
// cudaGetLastError. After a kernel with a finding every call fails, as on a GPU, up to the end of
// the observation or to cudaDeviceReset. What the machine does not do is refused with
// cudaErrorNotSupported and a finding that says which function it was.
// Outside of `observe`, or when host code ends the process within it, findings go to stderr. What
// kernels print goes to stdout, and to stderr within `observe`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/machine/machine.h"
#include "ptx/runtime/errors.h"
#include "ptx/runtime/model.h"

namespace ptx::runtime {

// The device that the machine passes for: h200 at first. Throws BadInput for an unknown name.
void choose_model(std::string_view name);
const Model& model();
// Sets how many multiprocessors the device has, as related products have more or fewer; 0: as the
// model has.
void choose_multiprocessors(int);
int multiprocessors();
// The same for host code, of which it is known from then on that it goes by their number.
int tell_multiprocessors();
bool are_multiprocessors_told();

// ---- What the objects of nvcc register. Nothing of a binary is read before it is used.
struct Binary;
// `wrapper` is nvcc's; `cuda_version` that of the headers that ptx_cudart is compiled with.
Binary* add_binary(const void* wrapper, int cuda_version);
void remove_binary(Binary*);
void add_kernel(Binary*, const void* stub, const char* name);
void add_variable(Binary*, const void* host, const char* name, std::size_t bytes);
// `host` is a pointer that the host reads the variable through: set by init_module.
void add_managed(Binary*, void** host, const char* name, std::size_t bytes);
void init_module(Binary*);

// ---- Code that the host loads: PTX, or a fat binary with some.
Error load_library(Binary*&, const void* code, int cuda_version);
Error unload_library(Binary*);
Error kernel_of_library(Binary*, const char* name, const void*& stub);
Error variable_of_library(Binary*, const char* name, void** address, std::size_t* bytes);

// ---- Errors.
Error take_last_error();
Error peek_last_error();
Error not_supported(const char* function);
Error fail(Error);  // of a call that only ptx_cudart knows
// A finding: a function of the host, which a stream called, has called this one.
void report_forbidden(const char* function);

// Attributes say how fast something is, not what it does: they are kept as they were told, by
// NVIDIA's numbers.
using AttributeValue = std::array<std::byte, 64>;
using Attributes = std::map<int, AttributeValue>;

// ---- Launches. A kernel is known by the address of its stub in the host code.
struct Configuration {
  Dim grid, block;
  std::size_t dynamic_shared = 0;
  void* stream = nullptr;
  bool cooperative = false;
  bool starts_early = false;  // before the kernel ahead of it in its stream has ended
  Dim cluster = {0, 0, 0};    // blocks of each; zeros: unsaid
  Attributes attributes = {};
};
Error push_configuration(const Configuration&);
Error pop_configuration(Configuration&);
Error find_kernel(const void* stub);
Error launch(const void* stub, const Configuration&, void** arguments);
// Calls the function later, with `data`. Calls to the runtime from within it are refused:
// not_permitted. `address` is what a node of a graph reports as its function.
Error call_host(void* stream, std::function<void()>, const void* data,
                const void* address = nullptr);
Error call_back(void* stream, std::function<void()>, const void* data);  // in no graph

struct KernelAttributes {
  KernelFacts facts;
  std::size_t max_dynamic_shared = 0;
  int carveout = -1;
  int registers = 0;  // of a thread; the most that it can have, where no machine code says so
  int ptx_version = 0, binary_version = 0;
  Dim cluster = {0, 0, 0};  // that it requires; zeros: none
  bool allows_large_clusters = false;
};
Error attributes_of(const void* stub, KernelAttributes&);
Error allow_dynamic_shared(const void* stub, int bytes);
Error set_carveout(const void* stub, int percent);
Error name_of_kernel(const void* stub, const char*& name);
Error parameter_of(const void* stub, std::size_t index, ParamPlace&);
Error parameters_of(const void* stub, std::vector<ParamPlace>&);
// Blocks that fit on a multiprocessor, as far as threads, shared memory and, where there is machine
// code, registers decide.
Error occupancy(const void* stub, int threads, std::size_t dynamic_shared, int& blocks);
// Of a kernel's clusters: a dimension that it requires (0 to 2); whether there may be more than the
// 8 blocks that all devices allow; how many clusters fit on the device, as far as the above decide;
// and how many blocks one may have.
Error require_cluster(const void* stub, int dimension, int blocks);
Error allow_large_clusters(const void* stub, bool allowed);
Error clusters_that_fit(const void* stub, const Configuration&, int& clusters);
Error largest_cluster(const void* stub, const Configuration&, int& blocks);
Error dynamic_shared_for(const void* stub, int blocks, int threads, std::size_t& bytes);

// ---- Memory.
enum class Use { device, host, managed };
Error allocate(void** result, std::size_t bytes, Use);
Error allocate_in(void* stream, void** result, std::size_t bytes);
Error release(void*, Use);  // waits for all work of the device
Error release_in(void* stream, void*);
Error register_host(void*, std::size_t bytes);
Error unregister_host(void*);
Error memory_info(std::size_t& free, std::size_t& total);
struct PointerFacts {
  bool known = false;
  Use use = Use::device;
};
PointerFacts facts_of_pointer(const void*);

// ---- Memory that host code maps itself, by the driver: that leaves no error behind.
inline constexpr std::size_t mapping_grain = std::size_t{2} << 20;  // sizes are multiples of that
Error reserve_addresses(void** first, std::size_t bytes, std::size_t alignment);
Error free_addresses(void* first, std::size_t bytes);
Error create_physical(unsigned long long& handle, std::size_t bytes);
Error release_physical(unsigned long long handle);
Error map_physical(void* at, std::size_t bytes, std::size_t offset, unsigned long long handle);
Error unmap_physical(void* at, std::size_t bytes);
Error allow_access(void* at, std::size_t bytes, bool is_allowed);

enum class Direction { host_to_host, host_to_device, device_to_host, device_to_device, any };
// Rows of `width` bytes each; a copy of one piece has one row.
struct Copy {
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0, height = 1;
  Direction direction = Direction::any;
  void* stream = nullptr;
  bool waits = false;  // as cudaMemcpy does, unless both ends are the device's
};
Error copy(const Copy&);
// Of several, which nothing orders. What is read at any time need not be read behind what the
// stream did before; what is read at once may change as soon as the call has returned.
struct CopyOfBatch {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  bool reads_at_any_time = false, reads_at_once = false;
};
Error copy_batch(std::span<const CopyOfBatch>, void* stream);
// Fills elements of 1, 2 or 4 bytes with the low bytes of `value`. `width` is in bytes.
Error set_memory(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 void* stream, std::size_t element_bytes = 1);
Error symbol(const void* host, void** address, std::size_t* bytes);
Error copy_to_symbol(const void* host, const void* from, std::size_t bytes, std::size_t offset,
                     Direction, void* stream, bool waits = false);
Error copy_from_symbol(void* to, const void* host, std::size_t bytes, std::size_t offset, Direction,
                       void* stream, bool waits = false);

// ---- Arrays and textures. Numbers are CUDA's own.
struct ChannelFormat {
  std::array<int, 4> bits = {};
  int kind = 0;  // 0: integers with a sign, 1: without, 2: reals
};
std::size_t bytes_of_texel(const ChannelFormat&);
struct ArrayFacts {
  ChannelFormat format;
  // Elements. No height: of one dimension. No depth: neither of layers nor of planes.
  std::size_t width = 0, height = 0, depth = 0;
  unsigned flags = 0;
};
Error allocate_array(void** array, const ArrayFacts&);
Error release_array(void*);
Error facts_of_array(const void* array, ArrayFacts&);
// Where a piece of an array begins, `x` in bytes, and its pitch: rows of `width` bytes each, or so
// many bytes in a row, whatever row they end in.
struct PieceOfArray {
  const void* array = nullptr;
  std::size_t x = 0, y = 0, width = 0, height = 1;
  bool is_run = false;
  std::size_t z = 0;  // layer, or plane
};
struct PlaceInArray {
  void* first = nullptr;
  std::size_t pitch = 0;
};
Error place_in_array(const PieceOfArray&, PlaceInArray&);

// What is asked of a texture or a surface, and kept as it was told, to be told again.
struct TextureTold {
  std::vector<std::byte> resource, reading;
};
struct TextureRequest {
  enum class Of { array, mipmaps, linear, rows } of = Of::array;
  const void* memory = nullptr;  // or the array
  ChannelFormat format;
  std::size_t width = 0, height = 0, pitch = 0;  // texels, but for linear memory: bytes
  std::size_t depth = 1;
  bool is_layered = false;
  std::array<int, 3> edges = {};
  int filter = 0;  // 1: linear
  bool reads_fractions = false, is_normalised = false, is_srgb = false, has_view = false;
  std::array<std::uint32_t, 4> border = {};
  TextureTold told;
};
Error create_texture(unsigned long long& handle, const TextureRequest&);
Error create_surface(unsigned long long& handle, const void* array, const TextureTold&);
Error destroy_texture(unsigned long long handle);  // or surface: as CUDA has it, also of none
Error told_of_texture(unsigned long long handle, TextureTold&);
// Texels of linear memory that one may have.
std::size_t most_linear_texels(const ChannelFormat&);
bool is_valid(const ChannelFormat&);

// ---- Tensor maps, which kernels copy boxes of tensors by.
struct Tensor {
  int element_bytes = 0;  // 0: of a type that this machine does not have
  bool is_real = false;   // a float, not an integer
  std::uint64_t dimensions = 0;
  const void* address = nullptr;
  const std::uint64_t* sizes = nullptr;    // elements in each dimension, the innermost first
  const std::uint64_t* strides = nullptr;  // bytes, from the second dimension on
  const std::uint32_t* box = nullptr;
  const std::uint32_t* steps = nullptr;
  int swizzled_bytes = 0;  // 32, 64 or 128; 0: none
  bool is_plain = true;    // neither interleaved nor filled with NaN
};
// Writes 128 bytes. Leaves no error behind: this is of the driver.
Error encode_tensor_map(void* map, const Tensor&);

// ---- Streams, events and pools: handles. Null, 1 and 2 are streams that are always there.
Error create_stream(void** result, unsigned flags, int priority);
Error destroy_stream(void*);
struct StreamFacts {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
};
Error stream_facts(void* stream, StreamFacts&);
Error check_stream(void* stream);
// Of an attribute that nobody has set, `value` stays as it is.
Error set_attribute(void* stream, int which, const AttributeValue&);
Error get_attribute(void* stream, int which, AttributeValue& value);
Error copy_attributes(void* to_stream, void* from_stream);
Error create_event(void** result, bool timed);
Error destroy_event(void*);
// An event of `outside` is recorded, or waited for, when a graph is launched; it orders nothing in
// the capture of that.
enum class EventOf { stream, outside };
Error record_event(void* event, void* stream, EventOf = EventOf::stream);
// Whether all is done: not when first asked about work that the host has not waited for, as a GPU
// may answer. That is no failure, and the last error all the same, until somebody takes it.
Error query_stream(void*);
Error query_event(void*);
Error wait_for_stream(void*);  // on the host, like the next
Error wait_for_event(void*);
Error wait_for_event(void* stream, void* event, EventOf = EventOf::stream);
Error elapsed(float& milliseconds, void* from, void* to);  // on this computer's clock
Error create_pool(void** result);
Error destroy_pool(void*);
Error check_pool(void*);
void* default_pool();

// ---- The device.
Error synchronize();
Error reset();
Error set_device(int);
// By NVIDIA's numbers of limits. They are kept, and change nothing but the stacks of threads and
// the heap of kernels, which takes no other size once a kernel was launched that calls malloc or
// free.
Error set_limit(int limit, std::size_t value);
Error get_limit(int limit, std::size_t& value);

}  // namespace ptx::runtime
