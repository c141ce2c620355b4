// What the parts of the decoder share: the kernel as far as it is decoded, and its slots.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "ptx/decode/code.h"
#include "ptx/decode/decode.h"
#include "ptx/decode/slot_plan.h"
#include "ptx/machine/async/adds.h"
#include "ptx/machine/handlers.h"
#include "ptx/reader/reader.h"

namespace ptx {

class Decoder {
 public:
  Decoder(const Module&, const Function&, const AddressOf&, Program::Kernel& out);
  void decode();

 private:
  struct Modifiers;  // of one instruction, sorted out

  // layout.cpp
  void lay_out();
  bool is_used(const std::string& name) const;

  void decode(const Instruction&);
  bool decode_control(const Instruction&);
  bool decode_memory(const Instruction&);
  bool decode_moves(const Instruction&);
  bool decode_predicates(const Instruction&);
  bool decode_warp_wide(const Instruction&);
  void decode_arithmetic(const Instruction&);
  bool decode_carry(const Instruction&);
  void decode_conversion(const Instruction&);
  bool decode_tensor(const Instruction&);
  void decode_matrix_move(const Instruction&);
  void decode_multiply(const Instruction&);
  void decode_fragment_move(const Instruction&);

  // warpgroup/decode_warpgroup.cpp
  void decode_warpgroup(const Instruction&);
  void decode_group_product(const Instruction&);
  int descriptor(const Instruction&, std::size_t operand, Uses&);
  void set_registers(const Instruction&, GroupProduct&, Type sum, Uses&);
  void watch_product_registers(const Instruction&);
  Fragment fragment(const Instruction&, const Operand&, Role, Type, std::vector<int>& used);
  int list(const std::vector<int>& slots);  // where it begins in Program::Kernel::lists
  bool decode_halves(const Instruction&);
  bool decode_half_comparison(const Instruction&);
  bool decode_half_conversion(const Instruction&);
  void decode_eight_bit_floats(const Instruction&, const std::string& type);
  void decode_comparison(const Instruction&);
  void decode_load(const Instruction&, bool is_store);
  void decode_param_load(const Instruction&, Type, std::size_t parts);
  void decode_atomic(const Instruction&);
  void decode_wide_atomic(const Instruction&, int mode);
  void decode_discard(const Instruction&);
  void emit_fence(const Instruction&);
  void ask_others(const Instruction&, int weight);
  void decode_copy(const Instruction&);
  int bytes_read(const Instruction&);
  void decode_bulk_prefetch(const Instruction&);
  void decode_bulk_copy(const Instruction&);
  Adds sums_of(const Instruction&) const;
  void decode_tensor_copy(const Instruction&);
  void decode_map_fence(const Instruction&);
  void decode_mbarrier(const Instruction&);
  Op& emit_at_barrier(const Instruction&, const char* name, const Operand& address);
  void decode_malloc(const Instruction&);
  void decode_condition(const Instruction&);
  void return_value(const Instruction&, int from, bool wide);
  void decode_printf(const Instruction&);
  int argument(const Instruction&, std::size_t n, bool is_wide);
  void decode_barrier(const Instruction&);
  void decode_barrier_vote(const Instruction&);

  // decode_texture.cpp
  bool decode_texture(const Instruction&);
  void decode_fetch(const Instruction&);
  void decode_texture_query(const Instruction&);
  void decode_surface(const Instruction&);
  void add_coordinates(const Instruction&, const Operand& object, bool are_reals,
                       std::vector<int>& to, Uses&);

  // decode_cluster.cpp
  void decode_cluster_barrier(const Instruction&);
  bool decode_cluster_address(const Instruction&);
  int multicast_blocks(const Instruction&, std::size_t operand);
  void decode_signalling_store(const Instruction&);

  void decode_packing(const Instruction&);
  void decode_pair(const Instruction&);
  void decode_call(const Instruction&);

  [[noreturn]] void refuse(const Instruction&, const std::string& why = "") const;

  // Operands as slots. A register has the slot of its plan, all others one that is filled.
  int slot(const Operand&, bool is_wide, bool is_real = false);
  int predicate(const Operand&, std::uint16_t negated_flag, Op&);
  int constant(std::uint64_t bits, bool is_wide);
  int special(const std::string& name, bool is_wide);
  int special(const Special&, std::uint64_t at, bool is_wide);
  int temporary(bool is_wide);
  int temporary_predicate() { return predicates_++; }
  int predicate_of(int reg) const;  // a register's number as a predicate
  int predicate_of(const Operand& o) const {
    return predicate_of(o.kind == Operand::Kind::reg ? o.index : -1);
  }
  int value_of(const Operand&, bool is_wide) const;  // or its slot
  bool is_wide(const Operand&) const;
  bool is_register(const Operand&) const;
  bool is_read(const Operand&) const;  // a result, by some instruction
  std::uint64_t address_of(const std::string& symbol, Space&) const;
  void set_address(const Operand&, Op&, Space&, Uses&);

  Op& emit(Handler, const Uses& = {});
  Op& emit_named(const std::string& name, const Uses& = {});
  // d = handler(a, b, c, e), with what it uses by its letters.
  Op& emit_table(const Handling&, std::initializer_list<int> operands);
  void guard_last(const Instruction&, std::size_t first);
  bool is_targeted(int body_index) const { return targets_.count(body_index) != 0; }

  const Module& module_;
  const AddressOf& global_address_;
  Program::Kernel& out_;
  const Function& f_;
  SlotPlan plan_;
  int slots_ = 0, predicates_ = 0, body_index_ = 0;
  int carry_ = -1;  // the predicate of the carry, once there is one
  std::set<int> targets_;
  std::vector<int> op_at_;  // of each instruction of the body
  std::map<std::pair<std::uint64_t, bool>, int> constants_;
  std::map<std::tuple<const Special*, std::uint64_t, bool>, int> specials_;
  struct Placed {
    Space space;
    std::uint64_t at;
  };
  std::map<std::string, Placed> placed_;
  std::map<std::string, int> shared_arrays_;  // in Program::Kernel::shared_variables
  std::uint64_t local_bytes_ = 0;
};

// The handler of a name that an instruction may have made up: throws std::out_of_range if there is
// none.
const Handling& known_handling(const std::string& name);
bool has(const Instruction&, const char* modifier);
// Elements of matrices that have 8 bits.
inline bool is_byte(Type type) { return type == Type::s8 || type == Type::u8; }
inline bool is_eight_bit_float(Type type) { return type == Type::e4m3 || type == Type::e5m2; }
// The type that an instruction names n-th; none if it names fewer.
Type type_of(const Instruction&, int n = 0);
const char* name_of(Type);

}  // namespace ptx
