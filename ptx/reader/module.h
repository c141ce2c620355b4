// What a text of PTX says, statement by statement. The reader settles grammar, names and scopes;
// whether an instruction exists, and takes such operands, the machine settles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptx {

enum class Space { generic, global, shared, local, param, constant };

enum class Type {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  pred,
};
int bytes_of(Type);  // 0 for none and pred

// Where an instruction comes from: a line of the source and, if a function was inlined there, the
// line that called it, and so on outwards. Indices into Module::places; -1 is nowhere. A caller's
// place comes before those that are called from it.
struct Place {
  int file = 0;  // index into Module::files
  int line = 0;
  int called_from = -1;
  std::string function;  // as PTX names it; empty if nothing was inlined
};

// A register, as its index into Function::registers.
struct Register {
  std::string name;
  Type type = Type::none;
};

// A variable of any space, or a parameter of a function.
struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::none;
  std::uint64_t bytes = 0;  // 0: of unknown size (extern .shared)
  std::uint64_t align = 1;
  bool is_extern = false;
  bool is_managed = false;  // the host may touch it, too
  // The bytes that it holds at first, if it says so, at most `bytes` of them. For .global and
  // .const, zeros follow.
  std::vector<std::byte> initial;
  // Addresses within `initial` that are filled in: the symbol's address (generic if so marked),
  // plus `add`, as 8 bytes at `at`.
  struct Relocation {
    std::uint64_t at = 0;
    std::string symbol;
    std::int64_t add = 0;
    bool generic = false;
  };
  std::vector<Relocation> relocations;
};

struct Operand {
  enum class Kind {
    reg,      // index
    special,  // text, such as "%tid.x" or "%laneid" or "WARP_SZ"
    integer,  // bits
    real,     // bits: of the float (0f...) or double (0d..., or a decimal); width says which
    symbol,   // text + offset: a variable or a function; of brx.idx a list of labels, index
    address,  // [base + offset]: base is a register (index >= 0) or a symbol (text), or neither
    vector,   // elements: registers, immediates or discards
    label,    // index of the statement to go on with, in Function::body; its size: return
    discard,  // _
  };
  Kind kind = Kind::discard;
  int index = -1;
  bool negated = false;  // !%p, and -%r where the grammar has it
  int width = 0;         // 4 or 8, of a real
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string text;
  // Of a vector; of an address what follows the base: [map, {x, y}] has one, which is a vector.
  std::vector<Operand> elements;
};

// Of an instruction. Nobody has settled how many it takes: asking for one that it lacks throws
// std::out_of_range.
struct OperandList : std::vector<Operand> {
  using vector::vector;
  using vector::operator=;
  Operand& operator[](std::size_t n) { return at(n); }
  const Operand& operator[](std::size_t n) const { return at(n); }
  const Operand& back() const { return at(size() - 1); }
};

struct Instruction {
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // {"global", "nc", "v4", "f32"}, "cluster::shared" whole
  int guard = -1;                      // a register; -1 for none
  bool guard_negated = false;
  OperandList operands;      // in the order of the text; setp's p|q are two operands
  bool two_results = false;  // p|q
  // Of a call: its results come first, then what is called, then the arguments.
  int results = 0;
  int place = -1;  // index into Module::places
  int line = 0;    // of the PTX
};

// Names are settled: where an instruction names a symbol, that is one of the function's variables,
// else one of its parameters or results, else a variable or function of the module. Where blocks
// declare a variable of the same name again, it is called "param0.2" here, "param0.3" and so on.
struct Function {
  std::string name;
  bool is_kernel = false;
  bool is_extern = false;  // declared here, and nowhere defined
  bool is_unread = false;  // its body was left for read_body_of
  std::vector<Variable> results, params;
  std::vector<Register> registers;  // those that it uses
  // Of this function alone: .shared, .local and .param of calls.
  std::vector<Variable> variables;
  std::vector<Instruction> body;
  std::vector<std::pair<std::string, int>> labels;  // name, index into body
  std::vector<std::vector<int>> branch_targets;     // .branchtargets lists, as indices into body
  std::vector<std::pair<std::string, int>> target_lists;  // name of a list, index into the above
  std::uint64_t max_threads = 0;              // .maxntid or .reqntid, multiplied; 0: unsaid
  std::uint64_t max_registers = 0;            // .maxnreg; 0: unsaid
  int registers_of_thread = 0;                // in its machine code; 0: there is none
  std::array<std::uint64_t, 3> cluster = {};  // .reqnctapercluster; zeros: unsaid
  std::uint64_t max_cluster = 0;              // .maxclusterrank; 0: unsaid
  bool blocks_are_clusters = false;           // the grid is launched as one of clusters
};

struct Unread;  // bodies

struct Module {
  std::string version, target;  // "9.0", "sm_90"
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::string> files;
  std::vector<Place> places;
  std::shared_ptr<Unread> unread;
};

}  // namespace ptx
