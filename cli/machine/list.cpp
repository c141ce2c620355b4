// `assay list`: the registered variants, what each needs, and where it can run here.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/result.h"
#include "cli/out/table.h"
#include "cli/selection.h"

namespace assay {
namespace {

struct ListRequest {
  std::string json;
  std::vector<std::string> arguments;
};

// A variant with all backends that it is compiled for.
struct ListedVariant {
  Variant variant;
  std::vector<BackendState> backends;
};

std::vector<ListedVariant> listed_variants(const std::vector<BackendState>& states) {
  std::vector<ListedVariant> variants;
  for (const Entry& entry : registered()) {
    auto listed = std::find_if(variants.begin(), variants.end(), [&](const ListedVariant& v) {
      return std::string_view(v.variant.name) == entry.variant.name;
    });
    if (listed == variants.end()) listed = variants.insert(listed, {entry.variant, {}});
    listed->backends.push_back(
        *std::find_if(states.begin(), states.end(),
                      [&](const BackendState& state) { return state.backend == entry.backend; }));
  }
  return variants;
}

// "simt, (cuda)": in brackets what it is compiled for but cannot run on here.
std::string backends_text(const std::vector<BackendState>& backends) {
  std::vector<std::string> names;
  for (const BackendState& state : backends) {
    const std::string name(to_string(state.backend));
    names.push_back(state.why_not.empty() ? name : fmt::format("({})", name));
  }
  return joined(names);
}

// A row for each variant, and below it in words what has no room in a column.
std::string variants_text(const std::vector<ListedVariant>& variants, const Screen& screen) {
  Table table;
  for (const char* heading : {"variant", "runs on", "tile m x n x k", "arithmetic", "order"})
    table.add_column(heading, Side::left);
  for (const auto& [variant, backends] : variants) {
    const Tile& tile = variant.tile;
    table.add_row({{variant.name},
                   {backends_text(backends)},
                   {fmt::format("{} x {} x {}", tile.m, tile.n, tile.k)},
                   {std::string(to_string(variant.arithmetic))},
                   {std::string(to_string(variant.order))}});
    table.add_line(variant.idea);
    if (const auto needs = describe(variant.needs); !needs.empty())
      table.add_line(fmt::format("needs {}", joined(needs)));
    if (variant.workspace != nullptr) table.add_line("takes workspace");
  }
  return table.text(screen);
}

std::string absence_text(const std::vector<BackendState>& states) {
  std::string text;
  for (const BackendState& state : states) {
    if (!state.why_not.empty())
      text += fmt::format("not here: {}: {}\n", to_string(state.backend), state.why_not);
  }
  return text.empty() ? text : fmt::format("\n{}", text);
}

JsonValue json_of(const ListedVariant& listed) {
  JsonValue json = json_of(listed.variant);
  json.add("backends", json_of(listed.backends));
  return json;
}

void add_flags(Flags& flags, ListRequest& request) {
  flags.result("--json", request.json, "also write it as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer("Exit status: 0 listed, 2 bad usage or bad input\n");
}

ExitCode run(const ListRequest& request) {
  const OutputFile json(request.json);
  const Screen screen = screen_beside({request.json});
  const auto states = backend_states();
  const auto variants = listed_variants(states);
  screen.print(variants_text(variants, screen) + absence_text(states));
  if (json) {
    const auto one = [](const ListedVariant& listed) { return json_of(listed); };
    const Conclusion conclusion{ExitCode::passed, "LISTED",
                                plural(static_cast<std::int64_t>(variants.size()), "variant"), ""};
    json.write(result_text({"list", request.arguments, conclusion},
                           {{"results", json_list(variants, one)}}));
  }
  return ExitCode::passed;
}

}  // namespace

Command list_command() {
  return command("list", "lists the variants, what each needs and where it can run here", add_flags,
                 run);
}

}  // namespace assay
