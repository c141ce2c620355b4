#include "ptx/reader/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "ptx/reader/body.h"
#include "ptx/reader/constants.h"
#include "ptx/reader/lexer.h"
#include "ptx/reader/places.h"
#include "ptx/reader/variables.h"

namespace ptx {

// What it takes to read bodies of kernels later.
struct Unread {
  struct Body {
    Lexer in;
    std::size_t variables, functions;  // that were declared before it
  };
  Globals globals;
  Places places;
  std::unordered_map<std::string, Body> bodies;
};

namespace {

class ModuleReader {
 public:
  ModuleReader(std::string_view text, bool leaves_bodies)
      : in_(text), leaves_bodies_(leaves_bodies) {}

  // Nothing where bodies cannot be left for later.
  std::optional<Module> read() {
    read_header();
    while (!in_.at(Token::Kind::end) && !needs_bodies_) read_directive();
    if (needs_bodies_) return {};
    check_relocations();
    places_.finish(module_);
    if (!unread_->bodies.empty()) module_.unread = std::move(unread_);
    return std::move(module_);
  }

 private:
  // .version 9.0 .target sm_90, debug .address_size 64
  void read_header() {
    in_.expect(".version");
    module_.version = in_.expect(Token::Kind::number, "a version").text;
    in_.expect(".target");
    module_.target = in_.expect(Token::Kind::word, "a target").text;
    while (in_.accept(",")) in_.expect(Token::Kind::word, "an option of the target");
  }

  void read_directive() {
    if (in_.accept(";")) return;
    const Token directive = in_.expect(Token::Kind::dotted, "a directive");
    if (directive.text == ".address_size") {
      if (read_integer(in_) != 64) Lexer::fail_at(directive.line, "addresses must have 64 bits");
    } else if (directive.text == ".file") {
      places_.read_file(in_);
    } else if (directive.text == ".section") {
      places_.read_section(in_);
    } else if (directive.text == ".pragma") {
      while (!in_.accept(";")) in_.expect(Token::Kind::text, "a text"), in_.accept(",");
    } else if (directive.text == ".alias") {
      read_alias();
    } else {
      read_declaration(directive);
    }
  }

  // .visible .entry name(...) {...}, .extern .shared .b8 name[];
  void read_declaration(Token directive) {
    bool is_extern = false;
    while (is_linkage(directive.text)) {
      is_extern |= directive.text == ".extern";
      directive = in_.expect(Token::Kind::dotted, "a directive");
    }
    if (directive.text == ".entry" || directive.text == ".func")
      return read_function(directive.text == ".entry");
    const Space space = space_named(directive.text);
    if (space != Space::global && space != Space::constant && space != Space::shared)
      Lexer::fail_at(directive.line, fmt::format("the directive {} is not known here",
                                                 ptx::quoted(directive.text)));
    read_variables(space, is_extern);
  }
  static bool is_linkage(std::string_view text) {
    return text == ".visible" || text == ".weak" || text == ".extern" || text == ".common";
  }

  void read_variables(Space space, bool is_extern) {
    const Declared declared = read_declared(in_, space, is_extern);
    do {
      Token name;
      add_variable(read_variable(in_, declared, &name), name);
    } while (in_.accept(","));
    in_.expect(";");
  }

  // What was declared as extern may be declared again.
  void add_variable(Variable variable, const Token& name) {
    if (globals_.functions.contains(name.text)) refuse_again(name);
    const auto [known, is_new] = globals_.variables.emplace(name.text, module_.variables.size());
    if (is_new) {
      module_.variables.push_back(std::move(variable));
      return lines_.push_back(name.line);
    }
    Variable& before = module_.variables[known->second];
    if (!before.is_extern && !variable.is_extern) refuse_again(name);
    if (!before.is_extern) return;
    before = std::move(variable);
    lines_[known->second] = name.line;
  }

  [[noreturn]] static void refuse_again(const Token& name) {
    Lexer::fail_at(name.line, fmt::format("{} is declared twice", ptx::quoted(name.text)));
  }

  void read_function(bool is_kernel) {
    Function function;
    function.is_kernel = is_kernel;
    while (in_.accept(".attribute")) skip_parentheses(in_);
    std::unordered_set<std::string_view> taken;
    if (in_.at("(")) function.results = read_parameters(in_, &taken);
    const Token name = in_.expect(Token::Kind::word, "the name of a function");
    if (globals_.variables.contains(name.text)) refuse_again(name);
    function.name = name.text;
    if (in_.at("(")) function.params = read_parameters(in_, &taken);
    read_properties(function);
    globals_.functions.emplace(name.text, module_.functions.size());
    function.is_extern = !in_.at("{");
    if (function.is_extern) {
      in_.expect(";");
    } else if (leaves_bodies_) {
      leave_body(function);
    } else {
      read_body(in_, function, globals_, places_);
    }
    add_function(std::move(function), name);
  }

  // What a function does that is called, is asked of all at once.
  void leave_body(Function& function) {
    needs_bodies_ = !function.is_kernel;
    function.is_unread = true;
    unread_->bodies.emplace(
        function.name, Unread::Body{in_, globals_.variables.size(), globals_.functions.size()});
    in_.skip_block();
  }

  // .maxntid 256, 1, 1 .minnctapersm 2 .noreturn .pragma "...";
  void read_properties(Function& function) {
    while (in_.at(Token::Kind::dotted)) {
      const Token directive = in_.take();
      if (directive.text == ".pragma") {
        in_.expect(Token::Kind::text, "a text");
        in_.expect(";");
      } else if (directive.text == ".maxntid" || directive.text == ".reqntid") {
        const auto threads = read_three();
        function.max_threads = threads[0] * threads[1] * threads[2];
      } else if (directive.text == ".reqnctapercluster") {
        function.cluster = read_three();
      } else if (directive.text == ".maxclusterrank") {
        function.max_cluster = read_integer(in_);
      } else if (directive.text == ".blocksareclusters") {
        function.blocks_are_clusters = true;
      } else if (directive.text == ".maxnreg") {
        function.max_registers = read_integer(in_);
      } else if (is_one_of(directive.text, {".minnctapersm", ".maxnctapersm", ".abi_preserve",
                                            ".abi_preserve_control"})) {
        read_integer(in_);
      } else if (!is_one_of(directive.text, {".noreturn", ".explicitcluster"})) {
        Lexer::fail_at(directive.line, fmt::format("the directive {} is not known of a function",
                                                   ptx::quoted(directive.text)));
      }
    }
  }
  static bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), text) != list.end();
  }
  // 16, 8, 1
  std::array<std::uint64_t, 3> read_three() {
    std::array<std::uint64_t, 3> three = {1, 1, 1};
    for (std::size_t i = 0; i == 0 || (i < 3 && in_.accept(",")); ++i)
      three[i] = read_count(in_, "a number of threads or blocks", 1u << 20);
    return three;
  }

  void add_function(Function function, const Token& name) {
    const std::size_t index = globals_.functions.at(name.text);
    if (index == module_.functions.size()) return module_.functions.push_back(std::move(function));
    Function& before = module_.functions[index];
    if (!before.is_extern && !function.is_extern) refuse_again(name);
    if (before.is_extern) before = std::move(function);
  }

  // .alias name, function;
  void read_alias() {
    const Token name = in_.expect(Token::Kind::word, "a name");
    in_.expect(",");
    const Token target = in_.expect(Token::Kind::word, "the name of a function");
    in_.expect(";");
    const auto known = globals_.functions.find(target.text);
    if (known == globals_.functions.end())
      Lexer::fail_at(target.line, fmt::format("{} is no function", ptx::quoted(target.text)));
    needs_bodies_ = leaves_bodies_;
    Function copy = module_.functions[known->second];
    copy.name = name.text;
    globals_.functions.emplace(name.text, module_.functions.size());
    add_function(std::move(copy), name);
  }

  void check_relocations() {
    for (std::size_t i = 0; i < module_.variables.size(); ++i)
      for (const Variable::Relocation& relocation : module_.variables[i].relocations)
        if (!globals_.variables.contains(relocation.symbol) &&
            !globals_.functions.contains(relocation.symbol))
          Lexer::fail_at(lines_[i],
                         fmt::format("{} is declared nowhere", ptx::quoted(relocation.symbol)));
  }

  Lexer in_;
  const bool leaves_bodies_;
  bool needs_bodies_ = false;
  Module module_;
  std::shared_ptr<Unread> unread_ = std::make_shared<Unread>();
  Globals& globals_ = unread_->globals;
  Places& places_ = unread_->places;
  std::vector<int> lines_;  // of the module's variables
};

}  // namespace

Module read(std::string_view text) { return *ModuleReader(text, false).read(); }

Module read_without_bodies(std::string_view text) {
  std::optional<Module> module = ModuleReader(text, true).read();
  return module ? *std::move(module) : read(text);
}

void read_body_of(Function& function, Module& module) {
  Unread& unread = *module.unread;
  const auto left = unread.bodies.find(function.name);
  Lexer in = left->second.in;
  unread.globals.variables_before = left->second.variables;
  unread.globals.functions_before = left->second.functions;
  Function whole = function;
  read_body(in, whole, unread.globals, unread.places);
  unread.places.finish(module);
  whole.is_unread = false;
  function = std::move(whole);
  unread.bodies.erase(left);
}

}  // namespace ptx
