// The machine: device memory, compiled modules, and launches that always come back. They run on the
// calling thread; everything follows from the settings. That nothing orders two of them is seen
// where they touch the same memory, whichever was run first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/counts/counts.h"
#include "ptx/reader/module.h"
#include "ptx/watch/comparisons.h"

namespace ptx {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

enum class Fault {
  bad_address,  // outside of all memory, or of the rows of an operand
  misaligned_access,
  illegal_instruction,  // as hardware calls what it refuses of a tensor copy
  write_to_input,       // of memory that is only to be read
  data_race,
  unordered_work,       // of two streams, on the same memory
  forbidden_call,       // of CUDA, in a function that a stream calls
  changed_caller,       // a setting of its thread is another one afterwards
  uninitialised,        // a value that nobody wrote decides a branch, an address, or a stored value
  barrier_not_reached,  // by all threads that have not returned
  warp_not_reached,     // some lanes wait for others at a warp-wide operation
  never_ends,
  trap,  // of the kernel itself, and a failed assertion
  launch_refused,
  unsupported,  // an instruction or a function that this machine does not know
};
std::string_view to_string(Fault);

// A place in the code that a finding is about.
struct Site {
  std::string does;               // "reads", "wrote"
  std::vector<SourceLine> lines;  // then those that it was inlined at, outwards; none without
                                  // -lineinfo
};

struct Finding {
  Fault fault;
  std::string text;           // what, which threads, where in the source
  std::uint64_t address = 0;  // in device memory, where it is about some: else 0
  bool is_write = false;
  std::vector<Site> sites = {};
  // Of one counter two launches draw numbers, which may or may not decide anything.
  bool is_of_drawn_numbers = false;
  // Of what never ends: how many words of results were stored, if some were late in its time. It may
  // only be slow.
  std::uint64_t stored_late = 0;
};

// Rows of memory that kernels may touch. The bytes between rows are nobody's.
struct Area {
  std::string name;  // "A", or "memory of 128 bytes (allocation 3)"
  std::uint64_t first = 0;
  std::uint64_t rows = 1, row_bytes = 0, pitch_bytes = 0;
  std::uint64_t element_bytes = 0;  // of a matrix; 0: places are told in bytes
  bool is_of_caller = false;        // who put work on it into a stream of its own, and will again
  bool writable = true;
  bool is_result = false;    // words that are stored here are counted
  bool is_constant = false;  // a __constant__ variable
  bool written = true;       // holds values, all of it; else reading what nobody wrote is seen
  // How far from its addresses its bytes lie in this process: 0, unless the host may not touch it.
  std::uint64_t away = 0;
  std::byte* bytes_at(std::uint64_t address) const {
    return reinterpret_cast<std::byte*>(address + away);
  }
};

struct Texture;

// A kernel sets the condition of a graph (cudaGraphSetConditional) by a handle: the address of a
// word, and this more, so that the handle is no address.
inline constexpr std::uint64_t condition_beyond_address = std::uint64_t{1} << 62;

// Numbers of the blocks of an operation: each block of all launches has its own, and each copy.
struct Numbers {
  std::uint32_t first = 0, end = 0;
  bool hold(std::uint32_t number) const { return number >= first && number < end; }
};

// All device memory. Addresses are those of this process, which the host may touch as well, but for
// what is hidden from it.
class Memory {
 public:
  Memory();
  ~Memory();
  // Of the machine's own, 512 bytes aligned, and not `written`. Null for 0 bytes. Poisoned, unless
  // no kernel will read it.
  void* allocate(std::size_t bytes, std::string name, bool poisoned = true,
                 bool is_for_host_too = false);
  // Whether host code faults that touches what is allocated from now on, unless it is for the host,
  // too. Not so at first.
  void hide_from_host(bool);
  bool is_hidden_from_host() const;
  bool release(void*);  // false if it is no such allocation
  // Memory of someone else's, which must outlive `forget`.
  void lend(const Area&);
  void forget(std::uint64_t first);
  // The area that holds an address; null if none does. Host code may ask, for cudaMemcpy.
  const Area* find(std::uint64_t address) const;
  // Where the byte of an address lies; there, if it is none of the device.
  std::byte* bytes_at(const void* address) const;
  void mark_written(std::uint64_t first, std::size_t bytes);
  void mark_constant(std::uint64_t first);  // a variable
  // A texture of memory that is there, by a handle for kernels. `remove_texture`: false if there is
  // none of that handle.
  std::uint64_t add_texture(const Texture&);
  bool remove_texture(std::uint64_t handle);
  // Where none is left, the next one gets the handle of the first again.
  void number_textures_anew();
  // What kernels got from malloc and did not free; how much they may get; and that all is free.
  std::size_t bytes_of_heap() const;
  void set_heap(std::size_t bytes);
  void release_heap();
  // That all launches so far come before those that follow, whoever asks what they told each other.
  void forget_launches();
  // Whether there are numbers left for that many blocks. If not, numbering starts over, and no
  // launch may be under way then.
  bool has_numbers_for(std::uint64_t blocks) const;
  struct Contents;
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

// A compiled module: code that can be run, and its variables in device memory.
class Program {
 public:
  // Throws BadPtx, with the line, for what the machine does not know.
  Program(Module, Memory&);
  ~Program();
  Program(const Program&) = delete;

  struct Kernel;
  const Kernel* kernel(std::string_view name) const;  // null if there is none
  struct Symbol {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  Symbol symbol(std::string_view name) const;  // a .global or .const variable

  struct Contents;

 private:
  std::unique_ptr<Contents> contents_;
};

// What cudaFuncGetAttributes tells of a kernel, as far as PTX settles it.
struct KernelFacts {
  std::string name;
  std::size_t static_shared = 0, local = 0, params = 0;
  std::uint64_t max_threads = 1024;
  Dim cluster = {0, 0, 0};   // blocks of one, as compiled; zeros: it does not say
  unsigned max_cluster = 0;  // blocks; 0: it does not say
  int registers = 0;         // of a thread, in the machine code beside the PTX; 0: there is none
  int sums = 0;  // that a loop carries, in registers of 32 bits; 0 where the kernel bounds those
  bool uses_heap = false;  // calls malloc or free
  std::string version, target;
};
const KernelFacts& facts_of(const Program::Kernel&);

// Of a copy or a memset, or of whoever allocates or frees memory.
struct HostAccess {
  std::string name;           // "cudaMemset"
  const char* does = "";      // "writes"
  const char* did = "wrote";  // if it is one that writes
  const void* first = nullptr;
  std::size_t pitch = 0, width = 0, height = 1;  // bytes; rows
  bool writes = false;                           // or gives, or takes away
  bool sets_values = false;
};

// An operation that nothing orders with another one.
struct Unordered {
  Numbers numbers;
  std::string name;                         // "kernel `f(int)`", "cudaMemset"
  const Program::Kernel* kernel = nullptr;  // null: it is none, but
  HostAccess access = {};
  bool until_waited_for = false;  // by griddepcontrol.wait
  // Started early, and ended without that: it may have overtaken the kernel ahead of it.
  bool overtakes = false;
  bool is_overtaken = false;
};
struct Past {
  std::vector<Unordered> unordered;
  // What the caller of the host code did before, if nothing orders it with that, or as little as
  // `until_waited_for` says: of the memory that is the caller's, all may still be in use.
  std::optional<Unordered> caller = {};
};

struct Launch {
  const Program::Kernel* kernel = nullptr;
  Dim grid, block;
  std::size_t dynamic_shared = 0;
  std::vector<std::byte> params;         // laid out as the kernel declares them
  Dim cluster = {};                      // blocks of each, of which the grid is a multiple
  bool cooperative = false;              // all blocks are in flight, and may wait for each other
  std::uint64_t grid_barrier = 0;        // its address, if so: `run` sets it
  int fit_together = 1;                  // blocks on a multiprocessor
  std::uint64_t fit_on_device = 1056;    // as of 256 threads on an H200
  std::uint64_t stack_of_thread = 1024;  // bytes: cudaLimitStackSize
  Past past = {};
};
// The bytes at which each parameter begins and how many it has, to fill `params`.
struct ParamPlace {
  std::size_t at = 0, bytes = 0;
};
std::span<const ParamPlace> params_of(const Program::Kernel&);

enum class Order { forward, reverse, shuffled };

// Who draws numbers of a counter at a time: one launch alone, else that is a finding; or several,
// where nothing orders them; with gaps, as if others had drawn some of the numbers in between.
enum class Drawn { by_one_launch, by_several, with_gaps };

struct Settings {
  Order order = Order::forward;
  std::uint64_t seed = 0;
  double cpu_seconds = 10, cpu_seconds_per_thread = 0;
  bool counts = false;  // what the launch asks of the hardware; takes up to six times as long
  // If not 0, and nothing is counted: watches what is compared, and stops the launch as one that
  // never ends once threads have compared this often. Host code is not told of that. Races are not
  // looked for then.
  std::uint64_t most_watched = 0;
  // If not 0: of a larger grid that many blocks are run, the first and the last among them. What
  // they leave in memory is a part of the whole, if no block has to do with another one. A grid of
  // few threads is run whole, unless their code is long, and so is one of which the chosen blocks
  // take next to no time.
  std::uint64_t most_blocks = 0, threads_run_whole = 0;
  // Behind a launch of which blocks were left out, whose values nobody wrote: to leave such values
  // in memory is no fault, and to go by them ends the launch.
  bool follows_part = false;
  Drawn numbers = Drawn::by_one_launch;
  bool sees_stores_at_once = false;  // no store stays unseen for a while
};

// A launch of which blocks waited for others that come later in the grid.
struct Crowd {
  std::uint64_t together = 0;  // how many had to be in flight at a time, in their own order
  std::uint64_t fit = 0;       // as many as the device has room for
};

struct Outcome {
  std::optional<Finding> finding;  // the first
  std::optional<Crowd> crowd;      // if they were taken in their own order, and waited
  bool waited_for_grids = false;   // a block of it has
  std::uint64_t extra_time = 0;    // beside that of its operations, in that of a usual one
  bool is_part = false;            // most blocks were left out
  std::uint64_t most_stored = 0;   // words of results, by all blocks, if none stores more than any
                                   // of those that were run
  bool meets_others =
      false;                 // a block did what tells others, or hears of them: an atomic operation
  std::string printed;       // by printf; at most 1 MiB
  std::string seen_late;     // a load that came too early for a store, in words; empty: none did
  std::string heap_used_up;  // likewise, that malloc gave nothing
  std::optional<LaunchCounts> counts;  // if asked for, of a launch without a finding
  std::optional<Watched> watched;      // if asked for
};

// A launch that has begun. Others may begin before it ends.
class LaunchUnderWay {
 public:
  LaunchUnderWay(Launch, Memory&, const Settings&);
  LaunchUnderWay(LaunchUnderWay&&) noexcept;
  LaunchUnderWay& operator=(LaunchUnderWay&&) noexcept;
  ~LaunchUnderWay();

  Numbers numbers() const;  // of its blocks
  bool is_over() const;
  void go_on(std::uint64_t most);  // turns of its blocks
  void meet(const Unordered&);     // another one, which has begun since
  Outcome end();                   // once it is over, and once only

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};
Outcome run(const Launch&, Memory&, const Settings&);  // a whole one

}  // namespace ptx
