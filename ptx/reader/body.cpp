#include "ptx/reader/body.h"

#include <fmt/format.h>

#include "ptx/reader/constants.h"
#include "ptx/reader/operands.h"
#include "ptx/reader/types.h"
#include "ptx/reader/variables.h"

namespace ptx {
namespace {

class Body {
 public:
  Body(Lexer& in, Function& function, const Globals& globals, Places& places)
      : in_(in),
        function_(function),
        places_(places),
        names_(function, globals),
        operands_(in, names_, function) {}

  void read() {
    in_.expect("{");
    for (int depth = 1; depth > 0;) {
      if (in_.accept("{")) {
        names_.open_block();
        ++depth;
      } else if (in_.at("}")) {
        names_.close_block();
        in_.take();
        --depth;
      } else {
        read_statement();
      }
    }
  }

 private:
  void read_statement() {
    if (in_.accept(";")) return;
    if (in_.at(Token::Kind::dotted)) return read_directive();
    if (in_.at("@")) return read_instruction();
    const Token word = in_.expect(Token::Kind::word, "an instruction, a directive or '}'");
    if (in_.accept(":")) return read_labelled(word);
    read_instruction(word);
  }

  // label:, or name: .branchtargets ...; and the like
  void read_labelled(const Token& name) {
    if (in_.accept(".branchtargets")) return read_targets(name);
    if (in_.accept(".callprototype")) {
      read_prototype();
      return names_.declare(name, {Name::Kind::prototype});
    }
    if (in_.accept(".calltargets")) {
      skip_to_semicolon();
      return names_.declare(name, {Name::Kind::prototype});
    }
    names_.declare_label(name);
  }

  void read_targets(const Token& name) {
    const std::size_t list = function_.branch_targets.size();
    names_.declare(name, {Name::Kind::target_list, static_cast<int>(list)});
    function_.target_lists.emplace_back(name.text, static_cast<int>(list));
    function_.branch_targets.emplace_back();
    do {
      const Token label = in_.expect(Token::Kind::word, "a label");
      names_.use_label_in_list(label, list, function_.branch_targets[list].size());
      function_.branch_targets[list].push_back(-1);
    } while (in_.accept(","));
    in_.expect(";");
  }

  // (.param .b32 _) _ (.param .b64 _) .noreturn;
  void read_prototype() {
    std::unordered_set<std::string_view> taken;
    if (in_.at("(")) read_parameters(in_, &taken);
    in_.expect(Token::Kind::word, "'_'");
    if (in_.at("(")) read_parameters(in_, &taken);
    skip_to_semicolon();
  }

  void skip_to_semicolon() {
    while (!in_.at(";") && !in_.at("}") && !in_.at(Token::Kind::end)) in_.take();
    in_.expect(";");
  }

  void read_directive() {
    const Token directive = in_.take();
    if (directive.text == ".loc") {
      place_ = places_.read_loc(in_);
    } else if (directive.text == ".reg") {
      read_registers();
    } else if (directive.text == ".pragma") {
      skip_to_semicolon();
    } else if (const Space space = space_named(directive.text);
               space == Space::shared || space == Space::local || space == Space::param) {
      read_variables(space);
    } else {
      Lexer::fail_at(directive.line, fmt::format("the directive {} is not known in a function",
                                                 quoted(directive.text)));
    }
  }

  // .reg .f32 %f<10>, sum;
  void read_registers() {
    if (in_.at(".v2") || in_.at(".v4")) in_.fail("registers of vectors are not known here");
    const Type type = read_type(in_);
    do {
      const Token name = in_.expect(Token::Kind::word, "the name of a register");
      if (in_.accept("<")) {
        names_.declare_registers(name, type, read_count(in_, "a number of registers", 1u << 30));
        in_.expect(">");
      } else {
        names_.declare_register(name, type);
      }
    } while (in_.accept(","));
    in_.expect(";");
  }

  void read_variables(Space space) {
    const Declared declared = read_declared(in_, space, false);
    do {
      Token name;
      Variable variable = read_variable(in_, declared, &name);
      names_.declare_variable(name, std::move(variable));
    } while (in_.accept(","));
    in_.expect(";");
  }

  void read_instruction() {
    Instruction instruction;
    in_.expect("@");
    const Operand guard = operands_.read_register();
    instruction.guard = guard.index;
    instruction.guard_negated = guard.negated;
    read_rest(std::move(instruction), in_.expect(Token::Kind::word, "an instruction"));
  }
  void read_instruction(const Token& opcode) { read_rest({}, opcode); }

  void read_rest(Instruction instruction, const Token& opcode) {
    instruction.opcode = opcode.text;
    instruction.line = opcode.line;
    instruction.place = place_;
    instruction.modifiers.reserve(4);
    while (in_.at(Token::Kind::dotted))
      instruction.modifiers.emplace_back(in_.take().text.substr(1));
    operands_.read(instruction);
    in_.expect(";");
    function_.body.push_back(std::move(instruction));
  }

  Lexer& in_;
  Function& function_;
  Places& places_;
  Names names_;
  Operands operands_;
  int place_ = -1;
};

}  // namespace

void read_body(Lexer& in, Function& function, const Globals& globals, Places& places) {
  places.begin_function();
  Body(in, function, globals, places).read();
}

}  // namespace ptx
