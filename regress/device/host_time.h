// Times what a call of a variant's launch takes on the host. Its baseline is a repetition of the
// recipe that was accepted, or else of today's: the least that enqueuing such work takes.
#pragma once

#include "regress/device/time_cell.h"

namespace assay {

// The job's cell is one of the host's time. Calls follow each other at once, a few at a time, so
// that the queue of the stream never fills up.
CellTiming time_host(const CellJob&, ProcessTools&);

}  // namespace assay
