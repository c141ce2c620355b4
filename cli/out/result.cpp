#include "cli/out/result.h"

namespace assay {
namespace {

// Changes when a field changes its meaning; docs/result.schema.json knows each.
constexpr int schema = 2;

JsonValue json_of(const Origin& origin) {
  return {{"commit", origin.commit},
          {"parent", origin.parent},
          {"kernels", origin.kernels},
          {"commit_date", origin.commit_date},
          {"date", origin.date},
          {"harness", origin.harness},
          {"compiler", origin.compiler},
          {"flags", origin.flags},
          {"host_compiler", origin.host_compiler}};
}

}  // namespace

std::string result_text(const ResultHead& head, const JsonValue& fields) {
  JsonValue json = {{"schema", schema},
                    {"command", head.command},
                    {"version", ASSAY_VERSION},
                    {"argv", head.arguments},
                    {"verdict", head.conclusion.word},
                    {"summary", head.conclusion.text()},
                    {"exit_code", static_cast<int>(head.conclusion.code)},
                    {"next", head.conclusion.next},
                    {"origin", json_of(head.origin)},
                    {"machine", machine_here()},
                    {"device", head.device}};
  for (const auto& [key, value] : std::get<JsonValue::Fields>(fields.value())) json.add(key, value);
  return text_of(json);
}

}  // namespace assay
