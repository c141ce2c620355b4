// The variables of a cubin, __device__ and __constant__, with the values that they are loaded with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Variable {
  std::string name;     // its symbol
  std::string initial;  // bytes; an address among them is not filled in
};

// "table" for _ZN5assay46_GLOBAL__N__9405e34d_8_naive_cu_17147cea_20388L5tableE.
std::string variable_name(const std::string& symbol);

// Throws BadInput for what is not a whole cubin.
std::vector<Variable> variables_in(std::string_view cubin);

}  // namespace assay
