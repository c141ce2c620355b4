// Which shared array the address of an access is of, as far as the text settles it: the address
// was made from that array's, and from no other's. An index that leaves the array is then seen,
// though another one begins there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ptx/reader/module.h"

namespace ptx {

// Of each instruction one of the numbers of the arrays, or -1.
std::vector<int> indexed_arrays(const Function&, const std::map<std::string, int>& arrays);

}  // namespace ptx
