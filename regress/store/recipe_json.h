// Recipes as JSON that a person can compare line by line. Reading throws BadInput for anything that
// writing would not have produced.
//
//   "grid"        "64x4x1"
//   "parameters"  "0+88 88+4": where each begins, and its bytes
//   "arguments"   the block in words of up to eight bytes, each a number such as
//                 "0x0000000000000400", or an address in an operand such as "A", "B+64", "C-8" or
//                 "workspace+1024"
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "regress/store/recipe.h"

namespace assay {

nlohmann::ordered_json json_of(const Recipe&);

// Errors begin with `where`, such as "FILE: cells[3].recipe".
Recipe recipe_of(const nlohmann::ordered_json&, const std::string& where);

}  // namespace assay
