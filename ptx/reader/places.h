// Source lines: .file and .loc, and the names of inlined functions in .debug_str.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"

namespace ptx {

class Places {
 public:
  void read_file(Lexer&);     // behind .file
  int read_loc(Lexer&);       // behind .loc: an index into Module::places
  void read_section(Lexer&);  // behind .section
  // A .loc that names where its code was inlined means one of this function.
  void begin_function() { latest_.clear(); }

  // Gives the module the files and places that were read since it was last called. Throws BadPtx
  // for a .loc whose file nobody declared.
  void finish(Module&);

 private:
  struct Loc {
    std::uint64_t file = 0, line = 0, column = 0;
    int called_from = -1;
    std::string_view function;  // a label in .debug_str
    std::uint64_t function_at = 0;
    auto operator<=>(const Loc&) const = default;
  };
  using Spot = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  int add(const Loc&, int line);
  void read_strings(Lexer&);
  std::string function_of(const Loc&) const;

  std::unordered_map<std::uint64_t, std::string> files_;
  std::map<Loc, int> known_;
  std::map<Spot, int> latest_;
  std::vector<std::pair<Loc, int>> locs_;           // and the line of the PTX
  std::unordered_map<std::uint64_t, int> indices_;  // of files, in the module
  std::string strings_;                             // all of .debug_str
  std::unordered_map<std::string_view, std::size_t> string_labels_;
};

}  // namespace ptx
