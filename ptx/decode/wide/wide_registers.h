// Registers of 128 bits as pairs of 64, the lower half first. They are only moved, packed, loaded,
// stored, exchanged and compared: where an instruction names one it names a vector of two then.
#pragma once

#include "ptx/reader/module.h"

namespace ptx {

Function with_halves(Function);

}  // namespace ptx
