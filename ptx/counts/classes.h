// Which class an instruction is of, as tables show it.
#pragma once

#include <string>

#include "ptx/reader/module.h"

namespace ptx {

// "fma.f32", "ld.global", "integer", "branch". A class of its own for what is not known.
std::string class_of(const Instruction&);

// Of what an access loads or stores, a vector's parts apart.
int element_bytes(const Instruction&);

// The space that a load, store or atomic names; generic if it names none.
Space space_of_access(const Instruction&);

}  // namespace ptx
