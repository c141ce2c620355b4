#include "ptx/runtime/pending.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace ptx::runtime {

namespace {

constexpr std::size_t most_bytes = 4 << 20;

std::byte* row_of(const Pending::Rows& rows, std::size_t row) {
  return static_cast<std::byte*>(const_cast<void*>(rows.first)) + row * rows.pitch;
}

std::vector<std::byte> held_by(const Pending::Rows& rows) {
  std::vector<std::byte> all;
  all.reserve(rows.width * rows.height);
  for (std::size_t row = 0; row < rows.height; ++row)
    all.insert(all.end(), row_of(rows, row), row_of(rows, row) + rows.width);
  return all;
}

void put_back(const Pending::Rows& rows, const std::vector<std::byte>& held) {
  for (std::size_t row = 0; row < rows.height; ++row)
    std::memcpy(row_of(rows, row), held.data() + row * rows.width, rows.width);
}

}  // namespace

void Pending::add_source(const Rows& rows, const Known& after,
                         const std::string& kernel) {
  if (rows.width * rows.height <= most_bytes)
    in_use_.push_back({rows, after, held_by(rows), kernel});
}

void Pending::add_result(const Rows& rows, const Known& after) {
  if (rows.width * rows.height > most_bytes) return;
  results_.push_back({rows, after, held_by(rows)});
  for (std::size_t row = 0; row < rows.height; ++row)
    std::memset(row_of(rows, row), 0xcd, rows.width);
}

void Pending::add_function(std::function<void()> call, const void* data,
                           const Known& after) {
  functions_.push_back({std::move(call), data, after});
}

std::optional<Finding> Pending::settle() {
  for (const Place& place : in_use_) {
    if (held_by(place.rows) == place.held) continue;
    const std::size_t bytes = place.rows.width * place.rows.height;
    const std::string of_kernel =
                          "or to managed memory, which " + place.kernel + " reads, and that",
                      of_copy =
                          "with which an asynchronous copy of " + std::to_string(bytes) + " bytes";
    const Finding finding{Fault::unordered_work, "the host code writes to pinned memory, " +
                                                     (place.kernel.empty() ? of_copy : of_kernel) +
                                                     " may still be under way"};
    in_use_.clear();
    return finding;
  }
  for (Place& result : results_) {
    put_back(result.rows, result.held);
    in_use_.push_back(std::move(result));
  }
  results_.clear();
  return std::nullopt;
}

void Pending::call_functions(const Known& known, Timeline& timeline) {
  std::vector<Function> later;
  for (Function& function : std::exchange(functions_, {})) {
    if (!known.covers(function.after)) {
      later.push_back(std::move(function));
      continue;
    }
    call(function);
    timeline.tell_host(function.after);
    called_.push_back(std::move(function));
  }
  functions_ = std::move(later);
}

void Pending::call(const Function& function) {
  calls_function_ = true;
  function.call();
  calls_function_ = false;
}

std::optional<Finding> Pending::end(const void* above, const Timeline& timeline) {
  constexpr std::uintptr_t deepest = 1 << 20;
  const auto number = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  for (const auto* functions : {&called_, &functions_})
    for (const Function& function : *functions) {
      const bool was_local = number(above) - number(function.data) < deepest;
      if (was_local && !timeline.host_knows(function.after))
        return Finding{Fault::unordered_work,
                       "a function of the host that waits in a stream is given the address of a "
                       "local variable, which may be gone when it is called"};
    }
  auto finding = settle();
  for (const Function& function : std::exchange(functions_, {})) call(function);
  return finding;
}

void Pending::look_again(const Timeline& timeline) {
  std::erase_if(in_use_, [&](const Place& place) { return timeline.host_may_know(place.after); });
  for (Place& place : in_use_) place.held = held_by(place.rows);
}

void Pending::tell_host(const Known& over) {
  std::erase_if(in_use_, [&](const Place& place) { return over.covers(place.after); });
}

}  // namespace ptx::runtime
