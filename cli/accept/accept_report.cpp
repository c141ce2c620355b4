#include "cli/accept/accept_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "cli/out/json.h"

namespace assay {

Conclusion conclude(const AcceptResult& result) {
  const AcceptReport& report = result.report;
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING ACCEPTED", result.why_not, ""};
  if (!report.unfit.empty())
    return {ExitCode::unfit_environment, "NOTHING ACCEPTED", report.unfit, ""};
  if (report.accepted.empty()) {
    return report.left_out.empty()
               ? Conclusion{ExitCode::nothing_judged, "NOTHING ACCEPTED", "there is no variant", ""}
               : Conclusion{ExitCode::wrong, "NOTHING ACCEPTED", joined(report.left_out, "; "), ""};
  }
  std::vector<std::string> missing;
  for (const std::string& name : result.request.variants) {
    if (std::find(report.accepted.begin(), report.accepted.end(), name) == report.accepted.end())
      missing.push_back(name);
  }
  const std::string what = fmt::format(
      "{} of {}, written to {}", plural(report.cells, "cell"),
      plural(static_cast<std::int64_t>(report.accepted.size()), "variant"), report.folder);
  const auto in_part = [&](const std::string& why) {
    return Conclusion{ExitCode::wrong, "ACCEPTED IN PART", fmt::format("{}; {}", why, what), ""};
  };
  if (report.wrong) return in_part("a result was wrong, and was left out");
  if (!missing.empty()) {
    return in_part(
        fmt::format("{} {} left out", joined(missing), missing.size() == 1 ? "was" : "were"));
  }
  if (!report.lost.empty()) {
    return in_part(fmt::format("{} {} left out",
                               plural(static_cast<std::int64_t>(report.lost.size()), "cell"),
                               report.lost.size() == 1 ? "was" : "were"));
  }
  return {ExitCode::passed, "ACCEPTED", what, ""};
}

std::string accept_text(const AcceptResult& result, const Conclusion& conclusion,
                        const Screen& screen) {
  const AcceptReport& report = result.report;
  std::string text;
  if (result.why_not.empty() && report.unfit.empty()) {
    if (!report.accepted.empty()) text += fmt::format("accepted: {}\n", joined(report.accepted));
    for (const std::string& reason : report.left_out)
      text += fmt::format("{}: {}\n", screen.paint("left out", Colour::yellow), printable(reason));
    text +=
        fmt::format("because: {}\nin {}\n\n", result.request.reason, duration_text(report.seconds));
  }
  return text + conclusion_text(conclusion, screen);
}

std::string json_of(const AcceptResult& result, const Conclusion& conclusion) {
  const AcceptReport& report = result.report;
  return json_text(
      "accept time", result.request.arguments, conclusion,
      {{"folder", report.folder},
       {"reason", result.request.reason},
       {"accepted", report.accepted},
       {"left_out", report.left_out},
       {"lost", json_list(report.lost, [](const Cell& cell) { return to_string(cell); })},
       {"cells", report.cells},
       {"unfit", report.unfit},
       {"seconds", report.seconds}});
}

}  // namespace assay
