// How every JSON file of ours begins and ends.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay {

using Json = nlohmann::ordered_json;

// The form has a number, which changes when a field changes its meaning.
Json begin_json(const char* command);

std::string finished(const Json&);

}  // namespace assay
