#include "regress/cell.h"

#include "base/errors.h"

namespace assay {

constexpr std::string_view host_word = " host ";

bool operator<(const Cell& a, const Cell& b) {
  return std::make_tuple(a.host, to_string(a.problem), a.variant) <
         std::make_tuple(b.host, to_string(b.problem), b.variant);
}

std::string to_string(const Cell& cell) {
  return cell.variant + std::string(cell.host ? host_word : " ") + to_string(cell.problem);
}

Cell parse_cell(std::string_view text) {
  const std::size_t end = text.find(' ');
  if (end == 0 || end == text.npos)
    throw BadInput("a cell is a variant and a case, such as \"naive m=1024 n=1024 k=1024\"");
  const std::string variant(text.substr(0, end));
  if (text.substr(end).starts_with(host_word))
    return {variant, parse_case(text.substr(end + host_word.size())), true};
  return {variant, parse_case(text.substr(end + 1))};
}

}  // namespace assay
