// Reads in a line of source what a comparison there asks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracle/watched/watched_run.h"

namespace assay {

// How the first of two values may relate to the second, as a set.
enum Relations : unsigned { none = 0, less = 1, equal = 2, greater = 4 };
Relations relations_of(const Comparison&);

struct Condition {
  std::string text;             // "g.k >= 2048"
  std::optional<bool> is_true;  // where the values relate as given; nothing if that is not clear
};

// Of an `if`, of a loop, or before a `?`; else the line itself.
std::string all_that_is_asked(std::string_view line);

// The condition, or the part of it, that compares what `seen` saw. A comparison that has nothing
// but `relations` on one side of a branch, and none of `others`, makes it true or false there.
Condition condition_in(std::string_view line, const Comparison& seen, Relations relations,
                       Relations others);

}  // namespace assay
