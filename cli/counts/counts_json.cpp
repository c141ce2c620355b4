#include <optional>

#include "cli/counts/counts.h"
#include "cli/out/result.h"

namespace assay {
namespace {

using ptx::Counts;
using ptx::GlobalTraffic;
using ptx::LaunchCounts;
using ptx::LineCounts;
using ptx::SharedTraffic;

JsonValue json_of(const GlobalTraffic& t) {
  return {{"requests", t.requests},
          {"sectors", t.sectors},
          {"accesses", t.accesses},
          {"bytes_asked", t.bytes_asked},
          {"bytes_moved", t.bytes_moved()}};
}
JsonValue json_of(const SharedTraffic& t) {
  return {{"instructions", t.instructions},
          {"wavefronts", t.wavefronts},
          {"accesses", t.accesses},
          {"bytes_asked", t.bytes_asked}};
}

JsonValue json_of(const Counts& c) {
  JsonValue::Fields classes;
  for (const auto& [name, executed] : c.classes)
    classes.emplace_back(name, JsonValue{{"warps", executed.warps}, {"threads", executed.threads}});
  return {{"global_loads", json_of(c.global_loads)},
          {"global_stores", json_of(c.global_stores)},
          {"global_atomics", json_of(c.global_atomics)},
          {"global_copies", json_of(c.global_copies)},
          {"bulk_loads", json_of(c.bulk_loads)},
          {"bulk_stores", json_of(c.bulk_stores)},
          {"shared_loads", json_of(c.shared_loads)},
          {"shared_stores", json_of(c.shared_stores)},
          {"shared_atomics", json_of(c.shared_atomics)},
          {"shared_copies", json_of(c.shared_copies)},
          {"local_loads", c.local_loads},
          {"local_stores", c.local_stores},
          {"barriers", c.barriers},
          {"ffma", c.ffma()},
          {"instructions", {{"warps", c.instructions.warps}, {"threads", c.instructions.threads}}},
          {"classes", std::move(classes)}};
}

JsonValue json_of(const LineCounts& line) {
  return {{"file", line.file},
          {"line", line.line},
          {"counts", json_of(line.counts)},
          {"accesses", json_list(line.accesses, [](const ptx::AccessCounts& a) -> JsonValue {
             return {{"what", a.what},
                     {"bytes", a.bytes},
                     {"warps", a.warps},
                     {"pieces", a.pieces},
                     {"stride_bytes",
                      a.stride.is_known ? std::optional(a.stride.bytes) : std::nullopt}};
           })}};
}

JsonValue json_of(const LaunchCounts& launch, bool by_line) {
  JsonValue value = {{"kernel", launch.kernel},
                     {"blocks", launch.blocks},
                     {"threads_per_block", launch.threads_per_block},
                     {"counts", json_of(launch.total)}};
  if (by_line)
    value.add("lines",
              json_list(launch.lines, [](const LineCounts& line) { return json_of(line); }));
  return value;
}

JsonValue json_of(const CountsLine& line, const CountsResult& result) {
  const Counting& counting = line.counting;
  if (!line.is_counted()) {
    return {{"variant", line.variant},
            {"status", counting.failure ? "failed" : "refused"},
            {"reason", counting.failure ? counting.failure->reason : counting.refusal}};
  }
  const Counts total = total_of(counting);
  return {{"variant", line.variant},
          {"status", "counted"},
          {"reason", ""},
          {"intensity_asked", intensity_asked(result.problem, total)},
          {"intensity_moved", intensity_moved(result.problem, total)},
          {"remarks", line.remarks},
          {"launches", json_list(counting.launches, [&](const LaunchCounts& launch) {
             return json_of(launch, result.request.by_line);
           })}};
}

}  // namespace

std::string json_of(const CountsResult& result, const Conclusion& conclusion) {
  return result_text({"counts", result.request.arguments, conclusion},
                     {{"case", to_string(result.problem)},
                      {"results", json_list(result.lines, [&](const CountsLine& line) {
                         return json_of(line, result);
                       })}});
}

}  // namespace assay
