// `assay show`: what one case does, as a picture on the terminal and as a page.
#include <fmt/format.h>

#include <filesystem>

#include "base/errors.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/check/check_json.h"
#include "cli/command.h"
#include "cli/kernel_files.h"
#include "cli/worker_flags.h"
#include "report/mask.h"
#include "report/page/page.h"

namespace assay {
namespace {

constexpr const char* show_what = "show what? name one variant, and --case \"m=.. n=.. k=..\"";

struct ShowRequest {
  KernelFiles files;
  std::vector<std::string> variants, backends, claims, case_texts;
  std::string html;
  std::vector<std::string> arguments;
};

CheckReport judged(const ShowRequest& request, const std::string& variant, const Opened& opened) {
  CheckReport report;
  report.arguments = request.arguments;
  report.budget.first_failure = true;  // the case is shown as it is, not shrunk
  report.budget.worker = {{worker_flag}};
  for (const std::string& library : opened.libraries)
    report.budget.worker.arguments.push_back(library);
  for (const std::string& text : request.case_texts) report.given.push_back(parse_case(text));
  report.selection = select({variant}, request.backends, request.claims, true);
  report.backends = backend_states();
  for (const Entry& entry : report.selection.entries) {
    for (const Claim* claim : report.selection.claims)
      report.results.push_back(check_case({entry}, {claim}, report.given, report.budget).front());
  }
  return report;
}

// Each line of some text, printable and set off.
std::string indented(const std::string& text) {
  std::string lines;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines += fmt::format("    {}\n", printable(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::string failure_text(const report::Failure& failure, const report::About& about) {
  std::string text =
      indented(is_mask(failure) ? blocks_of(mask_of(failure, about)) : failure.picture);
  text += say("what", failure.reason);
  if (!failure.branch.empty()) text += say("branch", failure.branch);
  return text + say("repeat", failure.replay);
}

// What a variant makes of the case on one backend.
std::string text_of(const report::VariantReport& variant, const std::string& backend,
                    const Screen& screen) {
  const std::string name = fmt::format("{} on {}", variant.about.name, backend);
  std::vector<std::string> holding, failing;
  for (const report::MergedClaim& claim : variant.claims) {
    if (claim.backend != backend) continue;
    if (claim.status == "holds") holding.push_back(claim.claim);
    if (claim.status == "fails") failing.push_back(claim.claim);
  }
  const report::MergedClaim* lead = variant.lead(backend);
  std::string text;
  if (lead != nullptr && lead->failure) {
    text = fmt::format("{}: {}\n{}", screen.paint(name, Colour::red),
                       printable(lead->failure->headline),
                       failure_text(*lead->failure, variant.about));
  } else {
    text = fmt::format("{}: {}\n",
                       screen.paint(name, holding.empty() ? Colour::yellow : Colour::green),
                       holding.empty() ? "not judged" : "right");
  }
  if (!failing.empty()) text += say("fails", joined(failing));
  if (!holding.empty()) text += say("holds", joined(holding));
  return text + "\n";
}

// The only one of the files, where none is named.
std::string variant_among(std::vector<std::string> named, bool has_files) {
  if (named.empty() && has_files) {
    for (const Entry& entry : registered()) add_once(named, std::string(entry.variant.name));
  }
  if (named.size() == 1) return named.front();
  throw BadInput(named.empty() ? show_what
                               : fmt::format("{}; here are {}", show_what, joined(named)));
}

ExitCode run(const ShowRequest& request) {
  std::vector<std::string> named = request.variants;
  if (request.case_texts.empty()) throw BadInput(show_what);
  const Opened opened = request.files.open(named, request.backends);
  const std::string variant = variant_among(named, !opened.libraries.empty());
  refuse_missing_gpu();
  const OutputFile html(request.html);
  const CheckReport check = judged(request, variant, opened);
  const Conclusion conclusion = conclude(check);
  const report::Report report =
      report::merged({report::result_in(json_of(check, conclusion), "this case")});
  const Screen screen = screen_beside({request.html});
  for (const report::VariantReport& variant : report.variants)
    for (const std::string& backend : variant.backends())
      screen.print(text_of(variant, backend, screen));
  screen.print(conclusion_text(conclusion, screen));
  if (html) html.write(html_of(report));
  return conclusion.code;
}

void add_flags(Flags& flags, ShowRequest& request) {
  flags.words("VARIANT", request.variants,
              "one name from `assay list`, or FILEs such as mine.cu, and a name of one in them");
  request.files.add_flags(flags);
  request.files.add_library_flag(flags);
  flags.texts("--case", request.case_texts, "TEXT",
              "the case; repeat for a sequence in one process");
  flags.texts("--backend", request.backends, "NAME", "simt, ptx, cuda or host; default: all");
  flags.texts("--claim", request.claims, "NAME",
              "a property; default: all about accepted problems");
  flags.result("--html", request.html, "write the page of `assay report` about it; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay show tiled_32 --case \"m=33 n=65 k=17\"\n"
      "\n"
      "Exit status: as of `assay check --case`\n");
}

}  // namespace

Command show_command() {
  return command("show", "shows what one case does, with a picture of what is wrong", add_flags,
                 run);
}

}  // namespace assay
