// The course of cells over commits as people see it: a table with a small picture for each cell,
// and a larger picture of all. Every text ends with a line break.
#pragma once

#include <optional>
#include <string>

#include "cli/out/table.h"
#include "regress/history.h"

namespace assay {

// Each cell in a line, then what changed and the command that finds the commit. Of one cell, each
// run in a line.
std::string history_text(const History&, const std::optional<Cell>& only, const Screen&);

// A line for each cell: its time over the anchor's, from 0.9 to 1.1, by run.
std::string history_svg(const History&, const std::optional<Cell>& only);

}  // namespace assay
