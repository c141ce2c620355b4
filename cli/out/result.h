// The file that every command writes with --json, as docs/results.md describes it: who found what,
// where and when, how it ended, and then what the command has to say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/origin.h"
#include "cli/out/conclusion.h"
#include "cli/out/json.h"

namespace assay {

struct ResultHead {
  const char* command;
  std::vector<std::string> arguments;
  Conclusion conclusion;
  Origin origin = origin_here();
  std::map<std::string, std::string> device = {};  // facts of the card, if one was used
};

// The head, then `fields`, of which one is the list `results`.
std::string result_text(const ResultHead&, const JsonValue& fields);

}  // namespace assay
