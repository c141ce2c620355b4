// What the files of the runtime share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "ptx/machine/between/host_access.h"
#include "ptx/runtime/capture.h"
#include "ptx/runtime/launch/under_way.h"
#include "ptx/runtime/observe.h"
#include "ptx/runtime/pending.h"
#include "ptx/runtime/runtime.h"
#include "ptx/runtime/timeline.h"

namespace ptx::runtime {

// Ends a call with an error, and with a finding if there is one.
struct Failure {
  Error error = Error::success;
  std::optional<Finding> finding = {};
};

// A kernel as the host code knows it.
struct Kernel {
  Binary* binary = nullptr;
  std::string name;   // in PTX
  std::string shown;  // "kernel `f(int)`"
  mutable const Program::Kernel* code = nullptr;  // once somebody has asked for it
  std::optional<std::size_t> dynamic_allowed = {};
  int carveout = -1;
  Dim cluster = {0, 0, 0};  // that cudaFuncSetAttribute requires; zeros: none
  bool allows_large_clusters = false;
};

struct Variable {
  Binary* binary = nullptr;
  std::string name;
  std::size_t bytes = 0;
};

// A registered fat binary, compiled when something of it is needed.
struct Binary {
  const void* wrapper = nullptr;
  int cuda_version = 0;
  std::map<void**, Variable> managed = {};
  std::unique_ptr<Program> program = nullptr;
  std::optional<Failure> broken = {};      // why there can be no program
  std::string loaded = {};                 // PTX that host code loaded: then there is no wrapper
  std::map<std::string, char> found = {};  // its kernels, each known by the address of its char

  std::string file() const;  // that it is in
  // Throws a Failure that names `wanted`, such as "kernel `f`".
  Program& compiled(const std::string& wanted);
  // Null where there is none of that name. Throws as `compiled` does.
  const Program::Kernel* kernel(const std::string& name, const std::string& shown);

 private:
  Failure named(Failure, const std::string& wanted) const;
};

// All of the fat binary that begins there. Throws BadPtx where none does.
constexpr std::uint32_t fat_binary_magic = 0xBA55ED50;
std::span<const std::byte> fat_binary_at(const void* head);

struct Stream {
  StreamFacts facts;
};
constexpr unsigned long long first_stream = 3;  // 1 and 2 are always there
constexpr std::array<Stream, streams_of_caller + 1> made_by_caller() {
  std::array<Stream, streams_of_caller + 1> streams;
  for (std::size_t i = 0; i < streams.size(); ++i)
    streams[i].facts = {.flags = 1, .id = first_stream + i};
  streams[stream_of_high_priority].facts.priority = -5;
  streams[stream_that_blocks].facts.flags = 0;
  return streams;
}
struct Event {
  bool timed = true;
  std::optional<std::chrono::steady_clock::time_point> recorded = {};
  KnownNow known = {};     // that it holds
  KnownNow asked = {};     // what it held when it was said not to be ready
  Captured captured = {};  // in place of that
};
struct Allocation {
  Use use = Use::device;
  std::size_t bytes = 0;
  bool lent = false;  // the host's own memory, registered
  std::shared_ptr<GraphMemory> of_graph = nullptr;
};

// What cudaMallocArray gives: its rows lie one after the other.
struct Array {
  ArrayFacts facts;
  void* memory = nullptr;
  std::size_t row_bytes() const { return facts.width * bytes_of_texel(facts.format); }
  std::size_t rows() const { return std::max<std::size_t>(facts.height, 1); }
  std::size_t slices() const { return std::max<std::size_t>(facts.depth, 1); }
  bool is_layered() const { return (facts.flags & 1) != 0; }
};

// Of handles that host code has, whichever pointers own what they stand for.
struct ByAddress {
  using is_transparent = void;
  static const void* of(const void* handle) { return handle; }
  template <class Owner>
  static const void* of(const Owner& owner) {
    return owner.get();
  }
  bool operator()(const auto& a, const auto& b) const { return std::less<>()(of(a), of(b)); }
};
template <class Owner>
using Handles = std::set<Owner, ByAddress>;

// Of the device. Never destroyed: host code may unregister its binaries at the very end.
struct State {
  std::recursive_mutex mutex;  // held by each call
  const Model* model = nullptr;
  std::atomic<int> multiprocessors = 0;  // 0: as the model has them
  std::atomic<bool> tells_multiprocessors = false;
  Memory memory;
  std::vector<std::unique_ptr<Binary>> binaries;
  // A stub that several libraries share is registered by each of them: the last one counts.
  std::map<const void*, std::vector<Kernel>> kernels;
  std::map<const void*, std::vector<Variable>> variables;
  std::map<void*, Allocation> allocations;
  std::size_t allocated = 0;  // bytes
  int numbered = 0;           // allocations, within the observation
  Handles<std::unique_ptr<Stream>> streams;
  std::map<unsigned long long, Attributes> attributes;  // of streams, by number
  // Of whoever calls the host code; nobody destroys them.
  std::array<Stream, streams_of_caller + 1> of_caller = made_by_caller();
  Handles<std::unique_ptr<Event>> events;
  Handles<std::unique_ptr<int>> pools;
  Handles<std::unique_ptr<Array>> arrays;
  std::map<unsigned long long, TextureTold> textures;               // that there are, by handle
  std::map<unsigned long long, std::shared_ptr<Capture>> captures;  // by number of the stream
  Handles<std::shared_ptr<Graph>> graphs;
  std::map<unsigned long long, std::weak_ptr<Condition>> conditions;  // by handle
  std::uint64_t launched = 0;                                         // kernels
  Handles<std::shared_ptr<KeptObject>> objects;                       // that the caller holds
  Handles<std::unique_ptr<NodeHandle>> nodes;                         // of these
  Handles<std::shared_ptr<Executable>> executables;
  unsigned long long next_capture = 1;
  unsigned long long next_stream = first_stream + streams_of_caller + 1;
  // Stack of a thread, buffer of printf, heap of malloc, depth and number of nested launches,
  // granularity of L2, its persisting part.
  std::array<std::size_t, 7> limits = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
  bool has_used_heap = false;  // some kernel that was launched, of the program that runs
  std::string program;         // of the last request

  std::uint64_t observation = 0;  // how many began or ended before this one
  Timeline timeline;
  Pending pending;
  UnderWay under_way;
  // Of each stream that was said not to be ready, by number, what was asked about then.
  std::map<unsigned long long, Known> asked;
  int works_asked_about = 0;         // in this observation
  int asked_in_vain = 0;             // how often more, about what was last asked about
  int depth = 0;                     // of calls: functions of the host may call, too
  const Request* request = nullptr;  // null outside of `observe`
  bool runs_nothing() const { return request != nullptr && request->runs_nothing; }
  Observation* seen = nullptr;
  Error lost = Error::success;     // every call fails, as after a fault on a GPU
  Error stopped = Error::success;  // launches do nothing: there was a finding
  bool follows_part = false;       // they follow one of which most blocks were left out
  bool seen_enough = false;  // nor do they then, and that is no error: the caller only watches
};
State& state();

enum class WhenLost { fail, go_on };
// Does what a function of the API does: `work` throws a Failure, or BadInput, or returns. What it
// leaves behind as an error is the last error of this thread.
Error call(const std::function<void()>& work, WhenLost = WhenLost::fail);

// Of the last kernel registered for a stub. Throws invalid_device_function.
Kernel& kernel_of(const void* stub);
const Program::Kernel& code_of(const Kernel&);
std::string readable(const std::string& name);  // as in the source
Node node_of_launch(const void* stub, const Configuration&, std::vector<std::byte> params);
void forget_mappings();
// Counts what is made that takes memory. Throws memory_allocation where the request has no more.
void need_memory();
// Of the device's memory, however much is left. Throws memory_allocation.
void* allocate_now(std::size_t bytes, Use, const std::string& what);
void need_stream(void*);           // throws invalid_resource_handle
StreamName name_of_stream(void*);  // likewise
// The host goes on when this is over, and when functions of its own that come after that are.
void host_waits_for(const Known&);
void host_waits_for_all();
// What the next operation of a stream may not count on, once the functions of the host that come
// before it have been called.
Past past_of_next(StreamName, bool starts_early = false);
// Enters what the host does to memory as an operation of a stream. Throws what it finds.
void enter_access(StreamName, const HostAccess&);

// Whether these blocks wrote a word of pinned memory by an atomic or volatile access, as one does
// to tell the host something.
bool wrote_for_host(const Numbers&);
// What these blocks read of memory that the host may write must still be there `after` them.
void hold_for_blocks(const Unordered& blocks, const Known& after);

template <class Owner>
auto find_handle(const Handles<Owner>& handles, const void* handle) {
  return handles.find(handle);
}

}  // namespace ptx::runtime
