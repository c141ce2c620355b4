#include "ptx/decode/calls/flatten.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "ptx/decode/calls/call_graph.h"
#include "ptx/decode/calls/made.h"
#include "ptx/decode/decode.h"

namespace ptx {
namespace {

// One level of a function that calls itself: a copy that several calls jump to. Each says by a
// number where to go on afterwards.
struct Level {
  const Function* f = nullptr;
  int depth = 0;
  Names names;             // of its parameters and results
  int number = -1;         // a register
  std::vector<int> calls;  // branches to it; each returns to the instruction behind
};

// Copies bodies into one, and gives everything of a copy names and numbers of its own.
class Flattening {
 public:
  Flattening(const Module& module, const Function& kernel) : graph_(module) {
    out_ = kernel;
    out_.body.clear();
    out_.registers.clear();
    out_.variables.clear();
    out_.labels.clear();
    out_.branch_targets.clear();
    out_.target_lists.clear();
    if (allocates(module)) make_stack();
    if (stack_ >= 0 || graph_.recurs_with_arrays(&kernel)) make_frames();
    copy(kernel, {}, false);
  }
  Function take() { return std::move(out_); }

 private:
  void copy(const Function& f, const Names& params, bool is_called) {
    const int registers = static_cast<int>(out_.registers.size());
    const int lists = static_cast<int>(out_.branch_targets.size());
    out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
    Names names = params;
    for (Variable v : f.variables) {
      if (is_called) {
        const std::string unique = fmt::format("{}#{}", v.name, copies_);
        names[v.name] = unique;
        v.name = unique;
      }
      out_.variables.push_back(std::move(v));
    }
    if (is_called) ++copies_;
    const int stack_before =
        is_called && stack_ >= 0 ? add_register("%stack_before", Type::u64) : -1;
    if (stack_before >= 0) move(Instruction{}, stack_before, stack_);
    const int frames_before = enter_frame(f, is_called);
    out_.branch_targets.resize(out_.branch_targets.size() + f.branch_targets.size());
    std::vector<int> new_index(f.body.size() + 1, 0);
    std::vector<int> jumps;  // instructions whose labels are still the old ones
    std::vector<int> returns;
    for (std::size_t i = 0; i < f.body.size(); ++i) {
      new_index[i] = static_cast<int>(out_.body.size());
      Instruction instruction = f.body[i];
      if (instruction.guard >= 0) instruction.guard += registers;
      for (Operand& operand : instruction.operands) rename(operand, registers, names);
      if (allocate(instruction)) continue;
      if (instruction.opcode == "call") {
        if (call(instruction)) continue;
      } else if (is_called && instruction.opcode == "ret") {
        instruction.opcode = "bra";
        instruction.modifiers.clear();
        instruction.operands = {Operand{.kind = Operand::Kind::label}};
        returns.push_back(static_cast<int>(out_.body.size()));
      } else if (has_label(instruction)) {
        jumps.push_back(static_cast<int>(out_.body.size()));
      }
      if (instruction.opcode == "brx") instruction.operands[1].index += lists;
      out_.body.push_back(std::move(instruction));
    }
    const int end = static_cast<int>(out_.body.size());
    if (stack_before >= 0) move(Instruction{}, stack_, stack_before);
    leave_frame(f, frames_before);
    new_index[f.body.size()] = end;
    for (const int at : jumps)
      for (Operand& o : out_.body[static_cast<std::size_t>(at)].operands)
        if (o.kind == Operand::Kind::label) o.index = new_index[static_cast<std::size_t>(o.index)];
    for (const int at : returns) out_.body[static_cast<std::size_t>(at)].operands[0].index = end;
    for (std::size_t n = 0; n < f.branch_targets.size(); ++n)
      for (const int t : f.branch_targets[n])
        out_.branch_targets[static_cast<std::size_t>(lists) + n].push_back(
            new_index[static_cast<std::size_t>(t)]);
    for (const auto& [name, index] : f.labels)
      out_.labels.push_back({name, new_index[static_cast<std::size_t>(index)]});
    for (const auto& [name, index] : f.target_lists)
      if (!is_called) out_.target_lists.push_back({name, index + lists});
  }

  void make_stack() {
    out_.variables.push_back({.name = "the memory of alloca",
                              .space = Space::local,
                              .type = Type::b8,
                              .bytes = most_allocated,
                              .align = 16});
    first_of_stack_ = add_register("%stack_first", Type::u64);
    stack_ = add_register("%stack", Type::u64);
    add({}, "mov", {"u64"}, first_of_stack_,
        {{.kind = Operand::Kind::symbol, .text = out_.variables.back().name}});
    move({}, stack_, first_of_stack_);
  }
  // alloca.u64 d, bytes, alignment; stacksave.u64 d; stackrestore.u64 a. False for all else.
  bool allocate(const Instruction& i) {
    const bool saves = i.opcode == "stacksave", restores = i.opcode == "stackrestore";
    if (stack_ < 0 || (i.opcode != "alloca" && !saves && !restores)) return false;
    const int skip = i.guard < 0 ? -1 : add_branch(i, i.guard, !i.guard_negated);
    if (saves || restores) {
      const int other = i.operands[0].index;
      saves ? move(i, other, stack_) : move(i, stack_, other);
    } else {
      const std::uint64_t alignment = i.operands.size() > 2 ? i.operands[2].bits : 8;
      const int given = i.operands[0].index, taken = add_register("%stack_taken", Type::u64),
                is_over = add_register("%stack_is_over", Type::pred);
      add(i, "add", {"u64"}, given, {reg(stack_), number(alignment - 1)});
      add(i, "and", {"b64"}, given, {reg(given), number(~(alignment - 1))});
      add(i, "add", {"u64"}, stack_, {reg(given), i.operands[1]});
      add(i, "sub", {"u64"}, taken, {reg(stack_), reg(first_of_stack_)});
      look_at_stack(i, 0);
      add(i, "setp", {"gt", "u64"}, is_over, {reg(taken), number(most_allocated)});
      const int fits = add_branch(i, is_over, true);
      fail(i, too_much);
      land(fits);
    }
    if (skip >= 0) land(skip);
    return true;
  }
  // How many bytes all functions declare that a thread is in, in a register; `known_`: those that
  // lead to what is being copied, each once.
  void make_frames() {
    frames_ = add_register("%frames", Type::u64);
    add({}, "mov", {"u64"}, frames_, {number(0)});
  }
  int enter_frame(const Function& f, bool is_called) {
    const std::uint64_t bytes = bytes_of_arrays(f);
    if (frames_ < 0 || bytes == 0) return -1;
    known_ += bytes;
    const int before = is_called ? add_register("%frames_before", Type::u64) : -1;
    if (is_called) move({}, before, frames_);
    add({}, "add", {"u64"}, frames_, {reg(frames_), number(bytes)});
    return before;
  }
  void leave_frame(const Function& f, int before) {
    known_ -= frames_ < 0 ? 0 : bytes_of_arrays(f);
    if (before >= 0) move({}, frames_, before);
  }
  // Before the stack grows by `more` bytes.
  void look_at_stack(const Instruction& i, std::uint64_t more) {
    if (frames_ < 0) return;
    const int all = add_register("%on_stack", Type::u64);
    add(i, "add", {"u64"}, all, {reg(frames_), number(more)});
    if (stack_ >= 0) {
      add(i, "add", {"u64"}, all, {reg(all), reg(stack_)});
      add(i, "sub", {"u64"}, all, {reg(all), reg(first_of_stack_)});
    }
    fail(i, stack_holds);
    out_.body.back().operands.push_back(reg(all));
    out_.body.back().operands.push_back(number(known_));
  }
  void add(const Instruction& from, const char* opcode, std::vector<std::string> modifiers, int to,
           std::vector<Operand> operands) {
    Instruction made = like(from, opcode);
    made.modifiers = std::move(modifiers);
    made.operands.push_back(reg(to));
    for (Operand& o : operands) made.operands.push_back(std::move(o));
    out_.body.push_back(std::move(made));
  }
  void move(const Instruction& i, int to, int from) { add(i, "mov", {"u64"}, to, {reg(from)}); }

  // Replaces a call by a copy of what it calls; false for what is built in.
  bool call(const Instruction& i) {
    const auto results = static_cast<std::size_t>(i.results);
    const Operand& callee = i.operands[results];
    const bool is_pointer = calls_by_pointer(i);
    const Function* f = is_pointer ? nullptr : graph_.defined(callee.text);
    if (!is_pointer && f == nullptr) {
      if (is_built_in(callee.text)) return false;
      throw BadPtx(
          fmt::format("line {}: {} is called, and nothing here defines it", i.line, callee.text));
    }
    const int skip = i.guard < 0 ? -1 : add_branch(i, i.guard, !i.guard_negated);
    if (f != nullptr)
      copy_called(*f, i);
    else
      call_pointer(i, callee);
    if (skip >= 0) land(skip);
    return true;
  }

  void copy_called(const Function& f, const Instruction& i) {
    if (graph_.call_each_other(&f, &f)) return call_level(f, i);
    Names names;
    const auto name = [&](const Variable& v, const std::string& given) { names[v.name] = given; };
    for_each_result(f, i, name);
    for_each_param(f, i, name);
    copy(f, names, true);
  }

  // Call `each` with what f declares and what the call gives for it.
  template <class Each>
  static void for_each_result(const Function& f, const Instruction& i, const Each& each) {
    for_each_passed(f.results, i, 0, each);
  }
  template <class Each>
  static void for_each_param(const Function& f, const Instruction& i, const Each& each) {
    for_each_passed(f.params, i, static_cast<std::size_t>(i.results) + 1, each);
  }
  template <class Each>
  static void for_each_passed(const std::vector<Variable>& declared, const Instruction& i,
                              std::size_t first, const Each& each) {
    for (std::size_t n = 0; n < declared.size(); ++n) {
      const Operand& given = i.operands.at(first + n);
      if (given.kind != Operand::Kind::symbol)
        throw BadPtx(fmt::format("line {}: a call that passes registers is not supported", i.line));
      each(declared[n], given.text);
    }
  }

  // A call from one level goes to the next one; one from outside is followed by all levels.
  void call_level(const Function& f, const Instruction& i) {
    const bool is_inside = !levels_.empty() && graph_.call_each_other(levels_.front().f, &f);
    if (is_inside && depth_ + 1 == most_levels) return fail(i, too_deep);
    if (is_inside) look_at_stack(i, bytes_of_arrays(f));
    if (is_inside) return jump_to(level(f, depth_ + 1), i);
    std::deque<Level> outer = std::exchange(levels_, {});
    const int outer_depth = depth_;
    jump_to(level(f, 0), i);
    const int over = add_branch(i, -1, false);
    for (std::size_t n = 0; n < levels_.size(); ++n) copy_level(levels_[n], i);
    land(over);
    levels_ = std::move(outer), depth_ = outer_depth;
  }

  Level& level(const Function& f, int depth) {
    for (Level& one : levels_)
      if (one.f == &f && one.depth == depth) return one;
    Level& made = levels_.emplace_back(Level{.f = &f, .depth = depth});
    made.number = add_register("%caller", Type::u32);
    for (const std::vector<Variable>* all : {&f.results, &f.params})
      for (Variable v : *all) {
        made.names[v.name] = fmt::format("{}#{}", v.name, copies_);
        v.name = made.names[v.name];
        out_.variables.push_back(std::move(v));
      }
    ++copies_;
    return made;
  }

  void jump_to(Level& to, const Instruction& i) {
    for_each_param(*to.f, i, [&](const Variable& v, const std::string& given) {
      copy_bytes(v, given, to.names.at(v.name), i);
    });
    add(i, "mov", {"u32"}, to.number, {number(to.calls.size())});
    to.calls.push_back(add_branch(i, -1, false));
    for_each_result(*to.f, i, [&](const Variable& v, const std::string& given) {
      copy_bytes(v, to.names.at(v.name), given, i);
    });
  }

  // All that calls this level stands before it.
  void copy_level(const Level& one, const Instruction& i) {
    for (const int call : one.calls) land(call);
    depth_ = one.depth;
    copy(*one.f, one.names, true);  // which may add levels
    Instruction leave = like(i, "brx");
    leave.operands = {
        reg(one.number),
        {.kind = Operand::Kind::symbol, .index = static_cast<int>(out_.branch_targets.size())}};
    std::vector<int>& back = out_.branch_targets.emplace_back();
    for (const int call : one.calls) back.push_back(call + 1);
    out_.body.push_back(std::move(leave));
  }

  // In pieces that hold one value at most, as nobody may have set what lies beside it.
  void copy_bytes(const Variable& v, const std::string& from, const std::string& to,
                  const Instruction& i) {
    const bool by_words = v.bytes % 4 == 0 && v.align % 4 == 0;
    const std::string type = by_words ? "u32" : "u8";
    const int value = add_register("%passed", Type::u32);
    for (std::uint64_t at = 0; at < v.bytes; at += by_words ? 4 : 1) {
      const auto address = [&](const std::string& name) {
        return Operand{
            .kind = Operand::Kind::address, .offset = static_cast<std::int64_t>(at), .text = name};
      };
      Instruction load = like(i, "ld"), store = like(i, "st");
      load.modifiers = store.modifiers = {"param", type};
      load.operands = {reg(value), address(from)};
      store.operands = {address(to), reg(value)};
      out_.body.push_back(std::move(load));
      out_.body.push_back(std::move(store));
    }
  }
  int add_register(const char* name, Type type) {
    out_.registers.push_back({name, type});
    return static_cast<int>(out_.registers.size()) - 1;
  }

  // if (callee == &first) first(...); else if (callee == &second) ...
  void call_pointer(const Instruction& i, const Operand& callee) {
    std::vector<int> ends;
    for (const Function* f : graph_.behind_pointer(i)) {
      const int is_other = add_register("%is_other", Type::pred);
      add(i, "setp", {"ne", "u64"}, is_other,
          {callee, {.kind = Operand::Kind::symbol, .text = f->name}});
      const int next = add_branch(i, is_other, false);
      copy_called(*f, i);
      ends.push_back(add_branch(i, -1, false));
      land(next);
    }
    fail(i, no_function);
    for (const int end : ends) land(end);
  }
  void fail(const Instruction& i, const char* how) {
    Instruction fails = like(i, "call");
    fails.operands = {{.kind = Operand::Kind::symbol, .text = how}};
    out_.body.push_back(std::move(fails));
  }
  // A branch to where `land` says.
  int add_branch(const Instruction& i, int guard, bool negated) {
    Instruction branch = like(i, "bra");
    branch.guard = guard;
    branch.guard_negated = negated;
    branch.operands = {{.kind = Operand::Kind::label}};
    out_.body.push_back(std::move(branch));
    return static_cast<int>(out_.body.size()) - 1;
  }
  void land(int branch) {
    out_.body[static_cast<std::size_t>(branch)].operands[0].index =
        static_cast<int>(out_.body.size());
  }

  const CallGraph graph_;
  Function out_;
  int copies_ = 0;
  std::deque<Level> levels_;  // of the functions that are being copied and call each other
  int depth_ = 0;
  int first_of_stack_ = -1, stack_ = -1, frames_ = -1;  // registers
  std::uint64_t known_ = 0;
};

}  // namespace

bool is_built_in(const std::string& function) {
  return function == "vprintf" || function == "__assertfail" || function == "malloc" ||
         function == "free" || function == "cudaGraphSetConditional";
}

Function flattened(const Module& module, const Function& kernel) {
  return Flattening(module, kernel).take();
}

}  // namespace ptx
