// Turns a kernel into operations. Throws BadPtx, with the line, for what the machine does not know.
#pragma once

#include <functional>
#include <string>

#include "ptx/decode/code.h"

namespace ptx {

// Where a .global or .const variable lies; 0 if there is none of this name.
using AddressOf = std::function<std::uint64_t(const std::string&)>;

std::unique_ptr<Program::Kernel> decode(const Module&, const Function& kernel, const AddressOf&);

// Of "kernel(Gemm)::tile", mangled, and perhaps numbered by who flattened the calls: "tile".
std::string own_name(const std::string& symbol);

}  // namespace ptx
