#include "ptx/reader/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ptx/reader/constants.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

// Special registers; those that end in _ or a letter before digits have numbers behind them.
bool is_special(std::string_view name) {
  static constexpr std::array plain = {"%tid",
                                       "%ntid",
                                       "%laneid",
                                       "%warpid",
                                       "%nwarpid",
                                       "%ctaid",
                                       "%nctaid",
                                       "%smid",
                                       "%nsmid",
                                       "%gridid",
                                       "%is_explicit_cluster",
                                       "%clusterid",
                                       "%nclusterid",
                                       "%cluster_ctaid",
                                       "%cluster_nctaid",
                                       "%cluster_ctarank",
                                       "%cluster_nctarank",
                                       "%lanemask_eq",
                                       "%lanemask_le",
                                       "%lanemask_lt",
                                       "%lanemask_ge",
                                       "%lanemask_gt",
                                       "%clock",
                                       "%clock_hi",
                                       "%clock64",
                                       "%globaltimer",
                                       "%globaltimer_lo",
                                       "%globaltimer_hi",
                                       "%total_smem_size",
                                       "%aggr_smem_size",
                                       "%dynamic_smem_size",
                                       "%current_graph_exec",
                                       "WARP_SZ"};
  static constexpr std::array numbered = {"%pm", "%envreg", "%reserved_smem_offset_"};
  return std::find(plain.begin(), plain.end(), name) != plain.end() ||
         std::any_of(numbered.begin(), numbered.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_of_three(std::string_view part) {
  return part == ".x" || part == ".y" || part == ".z" || part == ".w";
}

}  // namespace

void Operands::read(Instruction& instruction) {
  instruction.operands.reserve(4);
  if (instruction.opcode == "call") return read_call(instruction);
  if (instruction.opcode == "bra" || instruction.opcode == "brx") return read_branch(instruction);
  return read_plain(instruction);
}

// setp.lt.s32 %p1|%p2, %r1, 4
void Operands::read_plain(Instruction& instruction) {
  if (in_.at(";")) return;
  instruction.operands.push_back(read_operand());
  instruction.two_results = in_.accept("|");
  if (instruction.two_results) instruction.operands.push_back(read_operand());
  while (in_.accept(",")) instruction.operands.push_back(read_operand());
}

// call (result), function, (arguments), prototype
void Operands::read_call(Instruction& call) {
  if (in_.accept("(")) {
    read_list_of(call.operands, ")");
    call.results = static_cast<int>(call.operands.size());
    in_.expect(",");
  }
  const Token callee = in_.next();
  const std::optional<Name> name = names_.find(callee.text);
  const bool is_pointer = name && name->kind == Name::Kind::reg;
  if (!is_pointer && (!name || name->kind != Name::Kind::function))
    Lexer::fail_at(callee.line, fmt::format("{} is no function", quoted(callee.text)));
  call.operands.push_back(read_word());
  bool has_arguments = false, has_prototype = false;
  while (in_.accept(",")) {
    if (!has_arguments && !has_prototype && in_.accept("(")) {
      read_list_of(call.operands, ")");
      has_arguments = true;
      continue;
    }
    const Token prototype = in_.expect(Token::Kind::word, "the name of a prototype");
    const std::optional<Name> known = names_.find(prototype.text);
    if (!known || known->kind != Name::Kind::prototype || has_prototype)
      Lexer::fail_at(prototype.line, fmt::format("{} is no prototype", quoted(prototype.text)));
    has_prototype = true;
  }
  if (is_pointer && !has_prototype)
    Lexer::fail_at(callee.line, fmt::format("a call of {} needs a prototype", quoted(callee.text)));
}

// bra $L__BB0_1, or brx.idx %r1, targets
void Operands::read_branch(Instruction& branch) {
  if (branch.opcode == "brx") {
    branch.operands.push_back(read_operand());
    in_.expect(",");
    const Token list = in_.expect(Token::Kind::word, "the name of a list of labels");
    const std::optional<Name> name = names_.find(list.text);
    if (!name || name->kind != Name::Kind::target_list)
      Lexer::fail_at(list.line, fmt::format("{} is no list of labels", quoted(list.text)));
    branch.operands.push_back(
        {.kind = Kind::symbol, .index = name->index, .text = std::string(list.text)});
    return;
  }
  const Token label = in_.expect(Token::Kind::word, "a label");
  names_.use_label_in_next(label, branch.operands.size());
  branch.operands.push_back({.kind = Kind::label, .text = std::string(label.text)});
}

void Operands::read_list_of(std::vector<Operand>& list, std::string_view end) {
  if (in_.accept(end)) return;
  do {
    list.push_back(read_scalar());
  } while (in_.accept(","));
  in_.expect(end);
}

Operand Operands::read_register() {
  const bool negated = in_.accept("!");
  const Token name = in_.next();
  Operand operand = read_word();
  if (operand.kind != Kind::reg)
    Lexer::fail_at(name.line, fmt::format("{} is no register", quoted(name.text)));
  operand.negated = negated;
  return operand;
}

Operand Operands::read_operand() {
  if (in_.at("[")) return read_address();
  if (in_.at("{")) return read_vector();
  return read_scalar();
}

Operand Operands::read_scalar() {
  if (in_.at("!")) return read_register();
  if (in_.at(Token::Kind::word)) return read_word();
  return read_number();
}

// [%rd1+8], [table], [128], and for copies of tensors [%rd1, {%r1, %r2}]
Operand Operands::read_address() {
  in_.expect("[");
  const Token base = in_.next();
  Operand address = in_.at(Token::Kind::word) ? read_word() : Operand{.kind = Kind::integer};
  if (address.kind != Kind::reg && address.kind != Kind::symbol && address.kind != Kind::integer)
    Lexer::fail_at(base.line, fmt::format("{} is no address", quoted(base.text)));
  if (address.kind == Kind::integer) {
    address.offset = static_cast<std::int64_t>(read_integer(in_));
  } else if (address.kind == Kind::reg) {
    address.offset = read_offset(in_);
  }
  address.kind = Kind::address;
  while (in_.accept(",")) address.elements.push_back(in_.at("{") ? read_vector() : read_scalar());
  in_.expect("]");
  in_.accept(".unified");  // says where the memory lies, and nothing of what is read
  return address;
}

Operand Operands::read_vector() {
  Operand vector{.kind = Kind::vector};
  in_.expect("{");
  if (in_.at("}")) in_.fail_expecting("an element of a vector");
  read_list_of(vector.elements, "}");
  return vector;
}

// A register, a special register, or a name with an offset.
Operand Operands::read_word() {
  const Token word = in_.expect(Token::Kind::word, "an operand");
  if (word.text == "_") return {};
  const std::optional<Name> name = names_.find(word.text);
  if (!name && is_special(word.text)) {
    Operand special{.kind = Kind::special, .text = std::string(word.text)};
    if (in_.at(Token::Kind::dotted) && is_of_three(in_.next().text))
      special.text += in_.take().text;
    return special;
  }
  if (!name) Lexer::fail_at(word.line, fmt::format("{} is declared nowhere", quoted(word.text)));
  if (name->kind == Name::Kind::target_list || name->kind == Name::Kind::prototype)
    Lexer::fail_at(word.line, fmt::format("{} is no operand", quoted(word.text)));
  if (in_.at(Token::Kind::dotted))
    in_.fail(fmt::format("parts of a register are not known here: {}", quoted(in_.next().text)));
  if (name->kind == Name::Kind::reg) return {.kind = Kind::reg, .index = name->index};
  Operand symbol{.kind = Kind::symbol};
  symbol.text = name->kind == Name::Kind::variable
                    ? function_.variables[static_cast<std::size_t>(name->index)].name
                    : std::string(word.text);
  symbol.offset = read_offset(in_);
  return symbol;
}

Operand Operands::read_number() {
  if (!in_.at("-") && !in_.at(Token::Kind::number) && !in_.at("(") && !in_.at("~") && !in_.at("+"))
    in_.fail_expecting("an operand");
  const Constant value = read_constant(in_);
  return {.kind = value.width == 0 ? Kind::integer : Kind::real,
          .width = value.width,
          .bits = value.bits};
}

}  // namespace ptx
