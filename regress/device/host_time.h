// Times what a variant's launch does on the host beside enqueuing its work. The driver takes some
// 4 us to enqueue a kernel, a hundred times as long as a call of the runtime that asks for what it
// knows already; so what is enqueued is dropped, and compared as the launch's recipe.
#pragma once

#include "regress/device/time_cell.h"

namespace assay {

// The job's cell is one of the host's time. Its baseline is a few launches of an empty kernel; head
// and twin are these and the variant's own, so that a ratio says by how many of those it is longer.
CellTiming time_host(const CellJob&, ProcessTools&);

}  // namespace assay
