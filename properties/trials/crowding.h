// Grids that the device has no room for as a whole.
//
// Blocks that wait for others which come later in their grid wait for ever where the device has no
// room for these. That takes more tiles than are drawn: the cheapest case of which blocks were seen
// to wait grows until one never ends, or costs too much.
#pragma once

#include "properties/trials/trials.h"

namespace assay {

void crowd_out(Trials&, const Claim&, const Entry&, const Effort&);

}  // namespace assay
