#include "cli/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "cli/out/json.h"
#include "kernels/left_out.h"
#include "oracle/machine.h"

namespace assay {
namespace {

constexpr std::array all_backends = {Backend::simt, Backend::ptx, Backend::cuda, Backend::host};

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

Backend backend_named(const std::string& name) {
  std::vector<std::string> names;
  for (Backend backend : all_backends) {
    if (to_string(backend) == name) return backend;
    names.emplace_back(to_string(backend));
  }
  throw BadInput(fmt::format("there is no backend '{}'{}; there are {}", name,
                             suggestion(name, names), joined(names)));
}

std::vector<Backend> backends_named(const std::vector<std::string>& names) {
  std::vector<Backend> backends;
  for (const std::string& name : names) backends.push_back(backend_named(name));
  return backends;
}

std::string listed(const std::vector<Backend>& backends) {
  std::vector<std::string> names;
  for (Backend backend : backends) add_once(names, std::string(to_string(backend)));
  return joined(names, " and ");
}

void refuse_without_backend(const std::string& variant, const std::vector<Entry>& entries,
                            const std::vector<Backend>& backends) {
  std::vector<Backend> its_own;
  for (const Entry& entry : entries) {
    if (variant == entry.variant.name) its_own.push_back(entry.backend);
  }
  const bool has_one = std::any_of(its_own.begin(), its_own.end(),
                                   [&](Backend backend) { return contains(backends, backend); });
  if (!has_one) {
    throw BadInput(fmt::format("nothing to check: {} exists for {}, not for {}", variant,
                               listed(its_own), listed(backends)));
  }
}

std::vector<const Claim*> claims_named(const std::vector<std::string>& names, bool about_one_case) {
  for (const std::string& name : names) claim_named(name);
  std::vector<const Claim*> chosen;
  for (const Claim& claim : claims()) {
    if (names.empty() ? claim.inside_needs || !about_one_case
                      : contains(names, claim.name + std::string()))
      chosen.push_back(&claim);
  }
  return chosen;
}

// What is wrong with a case, without the word with which the parser begins.
std::string complaint_about(const std::string& flag, const std::string& text,
                            std::string_view complaint) {
  constexpr std::string_view opening = "case: ";
  if (complaint.starts_with(opening)) complaint.remove_prefix(opening.size());
  return fmt::format("{} \"{}\": {}", flag, text, complaint);
}

}  // namespace

void refuse_unknown(const std::vector<std::string>& variants) {
  std::vector<std::string> names;
  for (const Entry& entry : registered()) add_once(names, std::string(entry.variant.name));
  for (const std::string& name : variants) {
    if (contains(names, name)) continue;
    if (const std::string why = why_left_out(name); !why.empty()) throw BadInput(why);
    if (names.empty())
      throw BadInput(fmt::format("there is no variant '{}': {}", name, no_kernels));
    throw BadInput(fmt::format("there is no variant '{}'{}; there are {}", name,
                               suggestion(name, names), joined(names)));
  }
}

std::vector<std::string> variants_for_gpu(const std::vector<std::string>& named) {
  const auto entries = registered();
  refuse_unknown(named);
  for (const std::string& name : named) refuse_without_backend(name, entries, {Backend::cuda});
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    const std::string name = entry.variant.name;
    if (entry.backend == Backend::cuda && (named.empty() || contains(named, name)))
      names.push_back(name);
  }
  return names;
}

std::string files_of(const std::vector<std::string>& variants) {
  std::vector<std::string> files;
  for (const Entry& entry : registered()) {
    const bool meant = variants.empty() || contains(variants, std::string(entry.variant.name));
    if (meant && !entry.source.empty()) add_once(files, entry.source);
  }
  return files.empty() ? "" : joined(files, " ") + " ";
}

Case problem_named(const char* flag, const std::string& text) {
  try {
    return parse_case(text);
  } catch (const BadInput& error) {
    throw BadInput(complaint_about(flag, text, error.what()));
  }
}

Cell cell_named(const char* flag, const std::string& text) {
  Cell cell;
  try {
    cell = parse_cell(text);
  } catch (const BadInput& error) {
    throw BadInput(complaint_about(flag, text, error.what()));
  }
  refuse_unknown({cell.variant});
  return cell;
}

std::vector<BackendState> backend_states() {
  std::vector<BackendState> states;
  const auto entries = registered();
  for (Backend backend : all_backends) {
    const auto variants = std::count_if(entries.begin(), entries.end(),
                                        [&](const Entry& e) { return e.backend == backend; });
    std::string why_not = unavailable(backend);
    if (why_not.empty() && entries.empty()) why_not = no_kernels;
    if (why_not.empty() && variants == 0)
      why_not = backend == Backend::ptx ? no_kernels_of_nvcc : "no variant is compiled for it";
    states.push_back({backend, static_cast<int>(variants), std::move(why_not)});
  }
  return states;
}

JsonValue json_of(const std::vector<BackendState>& backends) {
  return json_list(backends, [](const BackendState& state) -> JsonValue {
    return {{"backend", to_string(state.backend)},
            {"available", state.why_not.empty()},
            {"reason", state.why_not}};
  });
}

JsonValue json_of(const Variant& variant) {
  return {{"name", variant.name},
          {"idea", variant.idea},
          {"needs", describe(variant.needs)},
          {"arithmetic", to_string(variant.arithmetic)},
          {"order", to_string(variant.order)},
          {"tile", {{"m", variant.tile.m}, {"n", variant.tile.n}, {"k", variant.tile.k}}},
          {"deterministic", variant.deterministic},
          {"takes_workspace", variant.workspace != nullptr}};
}

Selection select(const std::vector<std::string>& variants,
                 const std::vector<std::string>& backend_names,
                 const std::vector<std::string>& claim_names, bool about_one_case) {
  const auto entries = registered();
  const auto backends = backends_named(backend_names);
  refuse_unknown(variants);
  Selection selection{.claims = claims_named(claim_names, about_one_case)};

  const auto is_wanted = [&](Backend backend) {
    return backends.empty() || contains(backends, backend);
  };
  const auto is_named = [&](const Entry& entry) {
    return variants.empty() || contains(variants, std::string(entry.variant.name));
  };
  const auto has_one_named = [&](Backend backend) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.backend == backend && is_named(entry);
    });
  };
  for (const BackendState& state : backend_states()) {
    const bool meant = backends.empty() ? has_one_named(state.backend) : is_wanted(state.backend);
    if (meant && !state.why_not.empty())
      selection.left_out.push_back(fmt::format("{}: {}", to_string(state.backend), state.why_not));
  }
  if (!backends.empty() && !selection.left_out.empty()) return selection;

  if (!backends.empty()) {
    for (const std::string& name : variants) refuse_without_backend(name, entries, backends);
  }
  for (const Entry& entry : entries) {
    if (is_named(entry) && is_wanted(entry.backend) && unavailable(entry.backend).empty())
      selection.entries.push_back(entry);
  }
  return selection;
}

void refuse_missing_gpu() {
  const char* required = std::getenv("ASSAY_REQUIRE_GPU");
  if (required == nullptr || std::string_view(required).empty() ||
      std::string_view(required) == "0")
    return;
  for (const BackendState& state : backend_states()) {
    if (state.backend == Backend::cuda && !state.why_not.empty()) {
      throw UnfitEnvironment(fmt::format(
          "ASSAY_REQUIRE_GPU={}, but the backend cuda is missing: {}", required, state.why_not));
    }
  }
}

}  // namespace assay
