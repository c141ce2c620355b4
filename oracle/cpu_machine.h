// The machine of the backends `simt` and `host`: host memory with unreadable memory on both sides.
#pragma once

#include <memory>

#include "oracle/machine.h"

namespace assay {

std::unique_ptr<Machine> make_cpu_machine(Backend);

}  // namespace assay
