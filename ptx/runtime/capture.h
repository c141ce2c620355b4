// Stream capture: what is put into a stream meanwhile is not done, but becomes nodes of a graph, by
// the rules of CUDA's programming guide. What these forbid fails with CUDA's error, and mostly ends
// the capture in one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "ptx/machine/system/hidden.h"
#include "ptx/runtime/graph/graphs.h"
#include "ptx/runtime/timeline.h"

namespace ptx::runtime {

// Of a node of a graph, at one launch of it.
struct Turn {
  StreamName stream;
  bool starts_early = false;    // where it is to
  const void* frame = nullptr;  // whatever is below on this thread's stack is gone
};

struct Graph;
struct Executable;

// What kernels set by cudaGraphSetConditional: a word that they can reach.
class Condition {
 public:
  Condition(const Graph* of, std::optional<unsigned> at_launch);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  unsigned long long handle() const;
  void begin(StreamName);         // a launch of the graph
  unsigned value_in(StreamName);  // throws where nobody has set it

  const Graph* const of;  // in it, or in a graph in it, is the node that goes by it
  bool has_node = false;

 private:
  const std::optional<unsigned> at_launch_;
  unsigned value_ = 0;
};
struct Branches {
  BranchKind kind = BranchKind::if_;
  std::shared_ptr<Condition> condition;
  std::vector<std::shared_ptr<Graph>> bodies = {};
  std::vector<void*> handles = {};  // of these
};

struct Node {
  std::function<void(const Turn&)> run;
  NodeKind kind = NodeKind::empty;
  std::vector<std::size_t> after = {};                   // nodes before this one
  std::shared_ptr<Graph> inner = nullptr;                // of a graph in a graph: that, its own
  std::shared_ptr<const LaunchOfNode> launch = nullptr;  // of a kernel
  void* event = nullptr;                                 // that is recorded or waited for
  DoneByNode does = {};
  std::shared_ptr<Branches> branches = nullptr;
  std::vector<std::shared_ptr<Executable>> bodies = {};  // of an executable: what these became
  bool is_destroyed = false;  // its number stays, for the others to keep theirs
  bool is_enabled = true;     // of an executable
};

// What cudaMallocAsync gives to a graph: always at the same address, and there from its own node to
// that of cudaFreeAsync.
struct GraphMemory {
  std::string name;
  std::vector<std::byte> storage;
  HiddenAddresses hidden;
  void* first = nullptr;  // hidden from the host, if memory is
  std::byte* storage_of_first = nullptr;
  std::size_t bytes = 0;
};

// What the host gave a graph to keep.
class KeptObject {
 public:
  explicit KeptObject(std::function<void()> destroy) : destroy_(std::move(destroy)) {}
  ~KeptObject() { destroy_(); }
  KeptObject(const KeptObject&) = delete;
  KeptObject& operator=(const KeptObject&) = delete;
  unsigned references = 0;  // of the caller

 private:
  std::function<void()> destroy_;
};

struct NodeHandle;
struct Graph {
  std::vector<Node> nodes;
  std::vector<std::shared_ptr<GraphMemory>> memory;
  std::map<std::shared_ptr<KeptObject>, unsigned> objects = {};  // and how many references
  std::vector<NodeHandle*> handles = {};  // of its nodes, where somebody has asked for one
  const Graph* copy_of = nullptr;
  std::vector<std::shared_ptr<Condition>> conditions = {};
  std::weak_ptr<Graph> outer = {};  // that has a node which has this one
};

struct Capture {
  unsigned long long id = 0;
  unsigned long long origin = 0;  // the stream that it began in, by number
  bool of_blocking_stream = false;
  CaptureMode mode = CaptureMode::global;
  std::thread::id thread;
  bool is_invalid = false, has_ended = false;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::map<unsigned long long, std::vector<std::size_t>> last = {};  // of each stream in it
  std::vector<void*> told = {};  // handles of the last nodes of a stream, until it is asked again
};

// What an event holds that was recorded in a capture.
struct Captured {
  std::shared_ptr<Capture> capture = nullptr;
  std::vector<std::size_t> nodes = {};
};

// A handle of a node, which goes with its graph.
struct NodeHandle {
  std::shared_ptr<Graph> graph;
  std::size_t number = 0;
};

struct Executable {
  // As it was then: its nodes, and those of graphs in it, in an order in which each comes after
  // those before it.
  Graph graph;
  std::shared_ptr<const Graph> made_of;
  struct Part {
    std::vector<std::size_t> place_of;            // of each node
    std::vector<std::size_t> there;               // numbers of those that were not destroyed then
    std::vector<std::vector<std::size_t>> after;  // as it was then
  };
  std::map<const Graph*, Part> parts;  // `made_of`, and graphs in it
  bool frees_at_launch = false;
  unsigned long long flags = 0;  // as they were told
  // Nodes that follow each other share a lane, which is a stream of its own; the first one is the
  // stream that the graph is launched in.
  std::vector<std::size_t> lane_of_node;
  std::vector<StreamName> lanes;
  KnownNow known = {};  // what comes after its last launch: it does not overtake itself
};

// Whether what is put into a stream is to be recorded. Throws where it may neither be nor be done.
bool is_captured(void* stream);
void record(void* stream, Node);
Capture& capture_of(void* stream);  // of one that is captured

// Ends what is captured, in an error.
[[noreturn]] void spoil(Capture&, Error);
// Throw while something is captured that a call might wait for, or that its work might disturb.
void forbid_while_capturing();          // of calls that only a relaxed capture allows
void forbid_while_any_captures();       // of those that wait for all
void forbid_if_captured(void* stream);  // of those that wait for it
void forbid_if_captured(const Captured&);

// Adds what `work` puts into the stream that it is given, as one node. Throws the error that it
// returns, and adds nothing then.
void record_in(const std::shared_ptr<Graph>&, const NodeWork& work);

// Of events, where a capture has to do with it: else false.
bool record_captured(Captured&, void* stream);
bool wait_for_captured(void* stream, const Captured&);
void leave_captures(void* stream);  // which is no more

// Makes memory of a graph known to kernels, and takes it away.
void give_storage(GraphMemory&);  // and addresses
void open(const std::shared_ptr<GraphMemory>&);
void close(void* first);

// Whether an address is in what was a frame of a function on this thread's stack, and is no more.
bool is_gone(const void* address, const void* frame);
// Whether some of these bytes of the host's are in no memory at all.
bool is_given_back(const void* first, std::size_t bytes);

}  // namespace ptx::runtime
