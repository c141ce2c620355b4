#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "base/project.h"
#include "base/text.h"
#include "cli/counts/counts.h"

namespace assay {
namespace {

using ptx::AccessCounts;
using ptx::Counts;
using ptx::GlobalTraffic;
using ptx::LaunchCounts;
using ptx::LineCounts;
using ptx::SharedTraffic;

// 16,777,216: to be compared digit by digit.
std::string grouped(std::uint64_t number) {
  std::string text = fmt::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}
std::string ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(a) / static_cast<double>(b));
}

void add(Table& table, const char* what, const GlobalTraffic& t) {
  if (t.requests == 0) return;
  table.add_row({{what},
                 {grouped(t.requests)},
                 {grouped(t.sectors)},
                 {"sectors"},
                 {ratio(t.sectors, t.requests)},
                 {grouped(t.bytes_asked)},
                 {grouped(t.bytes_moved())}});
}
void add(Table& table, const char* what, const SharedTraffic& t) {
  if (t.instructions == 0) return;
  table.add_row({{what},
                 {grouped(t.instructions)},
                 {grouped(t.wavefronts)},
                 {"wavefronts"},
                 {ratio(t.wavefronts, t.instructions)},
                 {grouped(t.bytes_asked)},
                 {"-"}});
}

std::string traffic_text(const Counts& c, const Screen& screen) {
  Table table;
  table.add_column("", Side::left);
  table.add_column("requests", Side::right);
  table.add_column("cost", Side::right);
  table.add_column("", Side::left, 1);
  for (const char* heading : {"each", "bytes asked", "bytes moved"})
    table.add_column(heading, Side::right);
  add(table, "  global loads", c.global_loads);
  add(table, "  global stores", c.global_stores);
  add(table, "  global atomics", c.global_atomics);
  add(table, "  global copies", c.global_copies);
  add(table, "  bulk loads", c.bulk_loads);
  add(table, "  bulk stores", c.bulk_stores);
  add(table, "  shared loads", c.shared_loads);
  add(table, "  shared stores", c.shared_stores);
  add(table, "  shared atomics", c.shared_atomics);
  add(table, "  shared copies", c.shared_copies);
  return table.text(screen);
}

// The six that are executed most.
std::string classes_text(const Counts& c) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (const auto& [name, executed] : c.classes) all.push_back({executed.warps, name});
  std::sort(all.rbegin(), all.rend());
  std::vector<std::string> words;
  all.resize(std::min<std::size_t>(all.size(), 6));
  for (const auto& [warps, name] : all) words.push_back(fmt::format("{} {}", name, grouped(warps)));
  return joined(words);
}

std::string launch_text(const LaunchCounts& launch, const Screen& screen) {
  const Counts& c = launch.total;
  std::string text = fmt::format("  {}: {} of {} threads\n", launch.kernel,
                                 plural(static_cast<std::int64_t>(launch.blocks), "block"),
                                 launch.threads_per_block);
  text += traffic_text(c, screen);
  text += fmt::format("  FFMA {}, barriers of warps {}", grouped(c.ffma()), grouped(c.barriers));
  if (c.local_loads + c.local_stores > 0)
    text += fmt::format(", local loads {} and stores {}", grouped(c.local_loads),
                        grouped(c.local_stores));
  return text +
         fmt::format("\n  PTX of warps {}: {}\n", grouped(c.instructions.warps), classes_text(c));
}

// As one would type it in the folder of the project: a build cache may have compiled it elsewhere.
std::string project_path(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path root = project().folder, path = fs::path(file).lexically_normal();
  for (auto first = path.begin(); first != path.end(); ++first) {
    fs::path below;
    for (auto part = first; part != path.end(); ++part) below /= *part;
    if (below.is_relative() && fs::exists(root / below)) return below.string();
  }
  return path.string();
}

// The lines of a source, if it is still there.
std::vector<std::string> source_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(std::filesystem::path(project().folder) / file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
std::string trimmed(const std::string& line) {
  constexpr std::size_t most = 52;
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  const std::string text = line.substr(first);
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

// How far neighbouring lanes are apart, in floats: "0 1" for two accesses; ~ where it varies.
std::string strides_text(const std::vector<AccessCounts>& accesses, const std::string& space) {
  std::vector<std::string> all;
  for (const AccessCounts& access : accesses) {
    if (!access.what.ends_with(space)) continue;
    const double floats = static_cast<double>(access.stride.bytes) / 4;
    add_once(all, access.stride.is_known ? fmt::format("{:g}", floats) : "~");
  }
  std::sort(all.begin(), all.end());
  return joined(all, " ");
}

std::string lines_text(const LaunchCounts& launch, const Screen& screen) {
  std::map<std::string, std::vector<std::string>> sources;
  std::string text, shown;
  Table table;
  const auto begin = [&](const std::string& file) {
    table = Table();
    table.add_column("  line", Side::right);
    for (const char* heading : {"PTX", "FFMA", "global", "each", "stride", "shared", "each"})
      table.add_column(heading, Side::right);
    table.add_column("source", Side::left);
    shown = file;
    text += file.empty() ? "\n  of no known line\n" : fmt::format("\n  {}\n", project_path(file));
  };
  for (const LineCounts& line : launch.lines) {
    if (&line == &launch.lines.front() || line.file != shown) {
      if (&line != &launch.lines.front()) text += table.text(screen);
      begin(line.file);
    }
    auto [source, is_new] = sources.insert({line.file, {}});
    if (is_new) source->second = source_of(project_path(line.file));
    const auto n = static_cast<std::size_t>(line.line);
    const Counts& c = line.counts;
    GlobalTraffic global = c.global_loads;
    for (const auto* more :
         {&c.global_stores, &c.global_atomics, &c.global_copies, &c.bulk_loads, &c.bulk_stores})
      global += *more;
    SharedTraffic shared = c.shared_loads;
    for (const auto* more : {&c.shared_stores, &c.shared_atomics, &c.shared_copies})
      shared += *more;
    const auto or_blank = [](std::uint64_t number) {
      return number == 0 ? std::string() : grouped(number);
    };
    table.add_row({{line.line == 0 ? "-" : fmt::to_string(line.line)},
                   {grouped(c.instructions.warps)},
                   {or_blank(c.ffma())},
                   {or_blank(global.requests)},
                   {global.requests == 0 ? "" : ratio(global.sectors, global.requests)},
                   {strides_text(line.accesses, "global")},
                   {or_blank(shared.instructions)},
                   {shared.instructions == 0 ? "" : ratio(shared.wavefronts, shared.instructions)},
                   {n >= 1 && n <= source->second.size() ? trimmed(source->second[n - 1]) : ""}});
  }
  return launch.lines.empty() ? text : text + table.text(screen);
}

std::string variant_text(const CountsResult& result, const CountsLine& line, const Screen& screen) {
  if (!line.counting.refusal.empty())
    return fmt::format("\n{} refused: {}\n", line.variant, line.counting.refusal);
  if (line.counting.failure)
    return fmt::format("\n{}: {}\n", line.variant, screen.paint("not counted", Colour::red));
  std::string text = fmt::format("\n{}\n", line.variant);
  for (const LaunchCounts& launch : line.counting.launches) text += launch_text(launch, screen);
  const Counts total = total_of(line.counting);
  const auto is_whole = [](const LaunchCounts& launch) { return launch.not_counted.empty(); };
  if (std::ranges::all_of(line.counting.launches, is_whole))
    text += fmt::format(
        "  intensity: {:.3g} FLOP per byte asked of global memory, {:.3g} per byte moved\n",
        intensity_asked(result.problem, total), intensity_moved(result.problem, total));
  for (const std::string& remark : line.remarks) text += fmt::format("  remark: {}\n", remark);
  if (result.request.by_line)
    for (const LaunchCounts& launch : line.counting.launches) text += lines_text(launch, screen);
  return text;
}

}  // namespace

std::string counts_text(const CountsResult& result, const Conclusion& conclusion,
                        const Screen& screen) {
  std::string text = fmt::format("assay counts: {} at {}\n",
                                 plural(static_cast<std::int64_t>(result.lines.size()), "variant"),
                                 to_string(result.problem));
  for (const CountsLine& line : result.lines) text += variant_text(result, line, screen);
  return text + "\n" + conclusion_text(conclusion, screen);
}

}  // namespace assay
