#include "cli/accept/accept_json.h"

#include "cli/out/json.h"

namespace assay {

std::string json_of(const AcceptResult& result, const Conclusion& conclusion) {
  const AcceptReport& report = result.report;
  return json_text(
      "accept time",
      {{"argv", result.request.arguments},
       {"verdict", conclusion.word},
       {"summary", conclusion.text()},
       {"exit_code", static_cast<int>(conclusion.code)},
       {"folder", report.folder},
       {"reason", result.request.reason},
       {"accepted", report.accepted},
       {"left_out", report.left_out},
       {"lost", json_list(report.lost, [](const Cell& cell) { return to_string(cell); })},
       {"cells", report.cells},
       {"unfit", report.unfit},
       {"seconds", report.seconds}});
}

}  // namespace assay
