// Copies within and between memory of the device and of the host, and memsets.
#include <cstring>

#include "ptx/machine/system/hidden.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// Memory that the host may not touch. Null if it may.
const Area* device_area(const void* address) {
  const Area* const area = state().memory.find(number_of(address));
  const PointerFacts facts = facts_of_pointer(address);
  return area != nullptr && facts.use == Use::device ? area : nullptr;
}

enum class Access { read, write };

// One end of a copy: rows that are all in one area, or all of the host.
struct End {
  const void* first;
  std::size_t pitch, width, height;
  Access access;
};

void check_device(const char* what, const End& end) {
  const Area* const area = state().memory.find(number_of(end.first));
  if (area == nullptr) throw Failure{Error::invalid_value};
  const std::uint64_t limit = area->first + (area->rows - 1) * area->pitch_bytes + area->row_bytes;
  const std::uint64_t last = number_of(end.first) + (end.height - 1) * end.pitch + end.width;
  if (last > limit) throw Failure{Error::invalid_value};
  if (end.access == Access::write && !area->writable) {
    throw Failure{Error::success, Finding{Fault::write_to_input,
                                          std::string(what) + " of the host code writes to " +
                                              area->name + ", which is only to be read",
                                          number_of(end.first), true}};
  }
}

// Whether an end has to be the device's, may not be, or may be either.
enum class Side { host, device, any };
Side from_side(Direction direction) {
  switch (direction) {
    case Direction::host_to_host:
    case Direction::host_to_device: return Side::host;
    case Direction::device_to_host:
    case Direction::device_to_device: return Side::device;
    case Direction::any: return Side::any;
  }
  throw Failure{Error::invalid_memcpy_direction};
}
Side to_side(Direction direction) {
  switch (direction) {
    case Direction::host_to_host:
    case Direction::device_to_host: return Side::host;
    case Direction::host_to_device:
    case Direction::device_to_device: return Side::device;
    case Direction::any: return Side::any;
  }
  throw Failure{Error::invalid_memcpy_direction};
}

void check(const char* what, const End& end, Side side) {
  if (end.first == nullptr) throw Failure{Error::invalid_value};
  const bool known = state().memory.find(number_of(end.first)) != nullptr;
  if (!known && HiddenAddresses::hold(end.first))
    throw Failure{Error::invalid_value};  // it is gone
  if (side == Side::host && device_area(end.first) != nullptr) throw Failure{Error::invalid_value};
  if (side == Side::device || known) check_device(what, end);
}

HostAccess access_of(const char* what, const End& end) {
  const bool writes = end.access == Access::write;
  return {.name = what,
          .does = writes ? "writes" : "reads",
          .first = end.first,
          .pitch = end.pitch,
          .width = end.width,
          .height = end.height,
          .writes = writes,
          .sets_values = writes};
}

// What a graph copies, it reads and writes when it is launched, not when the copy was captured.
void expect_host_memory(const End& end, const void* frame) {
  if (state().memory.find(number_of(end.first)) != nullptr) return;
  const std::size_t bytes = (end.height - 1) * end.pitch + end.width;
  const std::string does = end.access == Access::write ? "writes" : "reads";
  const auto found = [&](const std::string& where) {
    return Failure{
        Error::success,
        Finding{Fault::bad_address, "a copy of " + std::to_string(end.width * end.height) +
                                        " bytes in a graph " + does + " host memory " + where +
                                        ": each launch of the graph " + does + " there again"}};
  };
  if (is_gone(end.first, frame))
    throw found("that was a local variable of a function which has returned");
  if (is_given_back(end.first, bytes)) throw found("that has been given back");
}

void mark_written(const End& end) {
  if (state().memory.find(number_of(end.first)) == nullptr) return;
  for (std::size_t row = 0; row < end.height; ++row)
    state().memory.mark_written(number_of(end.first) + row * end.pitch, end.width);
}

void check_shape(const Copy& asked) {
  constexpr std::size_t most_pitch = 2147483647;
  if (asked.to_pitch > most_pitch || asked.from_pitch > most_pitch)
    throw Failure{Error::invalid_pitch_value};
  if (asked.height > 1 && (asked.width > asked.to_pitch || asked.width > asked.from_pitch))
    throw Failure{Error::invalid_value};
  if (asked.to == nullptr || asked.from == nullptr) throw Failure{Error::invalid_value};
}

bool is_pinned(const void* address) {
  const PointerFacts facts = facts_of_pointer(address);
  return facts.known && facts.use == Use::host;
}

// A graph, for which it is `turn`, goes on while its copies are under way, to any memory.
void note_under_way(const Copy& asked, StreamName stream, const Turn* turn) {
  Timeline& timeline = state().timeline;
  const Known after = timeline.before_next(stream);
  const auto may_be_late = [&](const void* end) {
    return turn == nullptr ? !asked.waits && is_pinned(end)
                           : is_pinned(end) || !facts_of_pointer(end).known;
  };
  if (may_be_late(asked.from))
    state().pending.add_source({asked.from, asked.from_pitch, asked.width, asked.height}, after);
  if (may_be_late(asked.to))
    state().pending.add_result({asked.to, asked.to_pitch, asked.width, asked.height}, after);
  const bool is_for_host = !facts_of_pointer(asked.to).known;
  const bool is_of_device = device_area(asked.to) != nullptr && device_area(asked.from) != nullptr;
  if (turn == nullptr && (is_for_host || (asked.waits && !is_of_device)))
    host_waits_for(timeline.before_next(stream));
}

void copy_now(const Copy& asked, const Turn* turn = nullptr) {
  if (state().runs_nothing()) return;
  check_shape(asked);
  const StreamName stream = turn == nullptr ? name_of_stream(asked.stream) : turn->stream;
  const End to{asked.to, asked.to_pitch, asked.width, asked.height, Access::write};
  const End from{asked.from, asked.from_pitch, asked.width, asked.height, Access::read};
  check("cudaMemcpy", from, from_side(asked.direction));
  check("cudaMemcpy", to, to_side(asked.direction));
  if (turn != nullptr) expect_host_memory(from, turn->frame), expect_host_memory(to, turn->frame);
  enter_access(stream, access_of("cudaMemcpy", from));
  enter_access(stream, access_of("cudaMemcpy", to));
  std::byte* const first_to = state().memory.bytes_at(asked.to);
  const std::byte* const first_from = state().memory.bytes_at(asked.from);
  for (std::size_t row = 0; row < asked.height; ++row)
    std::memmove(first_to + row * asked.to_pitch, first_from + row * asked.from_pitch, asked.width);
  mark_written(to);
  note_under_way(asked, stream, turn);
}

// Of memory that is there only where it is touched, where a part of a grid is run, or a launch is
// only watched: then nothing more is done.
bool is_too_much(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 28;
  State& device = state();
  if (device.request == nullptr || bytes <= most) return false;
  const Settings& settings = device.request->settings;
  const bool is_part = settings.most_blocks != 0;
  if (!is_part && settings.most_watched == 0) return false;
  device.seen->is_part |= is_part, device.seen->is_no_part |= is_part;
  device.seen_enough = true;
  return true;
}

void check_batch(std::span<const CopyOfBatch> batch) {
  for (const CopyOfBatch& one : batch) {
    check("cudaMemcpyBatchAsync", {one.from, 0, one.bytes, 1, Access::read}, Side::any);
    check("cudaMemcpyBatchAsync", {one.to, 0, one.bytes, 1, Access::write}, Side::any);
  }
}

// Reads in one stream, and writes in another one, which comes behind that.
void copy_now(const CopyOfBatch& one, StreamName reads, StreamName writes) {
  const End to{one.to, 0, one.bytes, 1, Access::write};
  const End from{one.from, 0, one.bytes, 1, Access::read};
  Timeline& timeline = state().timeline;
  enter_access(reads, access_of("cudaMemcpyBatchAsync", from));
  timeline.wait(writes, timeline.before_next(reads));
  enter_access(writes, access_of("cudaMemcpyBatchAsync", to));
  std::memmove(one.to, one.from, one.bytes);
  mark_written(to);
  const auto is_of_host = [](const void* end) {
    return is_pinned(end) || !facts_of_pointer(end).known;
  };
  const Known after = timeline.before_next(writes);
  if (is_of_host(one.from) && !one.reads_at_once)
    state().pending.add_source({one.from, 0, one.bytes, 1}, after);
  if (is_of_host(one.to)) state().pending.add_result({one.to, 0, one.bytes, 1}, after);
}

void set_row(std::byte* to, const SetOfNode& asked) {
  if (asked.element_bytes == 1) {
    std::memset(to, static_cast<int>(asked.value), asked.width);
    return;
  }
  for (std::size_t at = 0; at < asked.width; at += asked.element_bytes)
    std::memcpy(to + at, &asked.value, asked.element_bytes);
}

void set_now(const SetOfNode& asked, StreamName stream) {
  if (state().runs_nothing()) return;
  const End end{asked.to, asked.pitch, asked.width, asked.height, Access::write};
  check_device("cudaMemset", end);
  if (is_too_much(end.width * end.height)) return;
  enter_access(stream, access_of("cudaMemset", end));
  std::byte* const first = state().memory.bytes_at(end.first);
  for (std::size_t row = 0; row < end.height; ++row)
    set_row(first + row * asked.pitch, asked);
  mark_written(end);
}

}  // namespace

Error copy(const Copy& asked) {
  return call([&] {
    need_stream(asked.stream);
    const bool is_of_graph = is_captured(asked.stream);
    if (is_of_graph && asked.waits)
      spoil(capture_of(asked.stream), Error::stream_capture_unsupported);
    if (asked.width == 0 || asked.height == 0) return;
    if (!is_of_graph) return copy_now(asked);
    check_shape(asked);
    record(asked.stream, {.run = [asked](const Turn& turn) { copy_now(asked, &turn); },
                          .kind = NodeKind::copy,
                          .does = asked});
  });
}

Error copy_batch(std::span<const CopyOfBatch> batch, void* stream) {
  return call([&] {
    const StreamName name = name_of_stream(stream);
    if (is_captured(stream))
      throw Failure{Error::not_supported,
                    Finding{Fault::unsupported,
                            "the host code calls cudaMemcpyBatchAsync while its stream is "
                            "captured, which this machine does not have"}};
    if (state().runs_nothing()) return;
    check_batch(batch);
    Timeline& timeline = state().timeline;
    const Known before = timeline.before_next(name);
    const auto own_stream = [] {
      return StreamName{.number = state().next_stream++, .is_apart = true};
    };
    for (const CopyOfBatch& one : batch) {
      const StreamName reads = own_stream(), writes = own_stream();
      if (!one.reads_at_any_time) timeline.wait(reads, before);
      timeline.wait(writes, before);
      copy_now(one, reads, writes);
      timeline.wait(name, timeline.before_next(writes));
    }
  });
}

Error set_memory(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 void* stream, std::size_t element_bytes) {
  return call([&] {
    need_stream(stream);
    const bool is_of_graph = is_captured(stream);
    if (width == 0 || height == 0) return;
    const bool runs_nothing = state().runs_nothing() && !is_of_graph;
    if (!runs_nothing && (to == nullptr || (height > 1 && width > pitch)))
      throw Failure{Error::invalid_value};
    const SetOfNode asked{to, pitch, static_cast<unsigned>(value), width, height, element_bytes};
    if (!is_of_graph) return set_now(asked, name_of_stream(stream));
    record(stream, {.run = [asked](const Turn& turn) { set_now(asked, turn.stream); },
                    .kind = NodeKind::set,
                    .does = asked});
  });
}

namespace {

// Where a piece of a variable is. Throws if there is no such piece.
Error piece_of(const void* host, std::size_t bytes, std::size_t offset, std::byte*& piece) {
  void* address = nullptr;
  std::size_t size = 0;
  const Error error = symbol(host, &address, &size);
  if (error != Error::success) return error;
  if (offset > size || bytes > size - offset) return fail(Error::invalid_value);
  piece = static_cast<std::byte*>(address) + offset;
  return error;
}

}  // namespace

Error copy_to_symbol(const void* host, const void* from, std::size_t bytes, std::size_t offset,
                     Direction direction, void* stream, bool waits) {
  std::byte* piece = nullptr;
  if (const Error error = piece_of(host, bytes, offset, piece); error != Error::success)
    return error;
  return copy({.to = piece,
               .from = from,
               .width = bytes,
               .direction = direction,
               .stream = stream,
               .waits = waits});
}

Error copy_from_symbol(void* to, const void* host, std::size_t bytes, std::size_t offset,
                       Direction direction, void* stream, bool waits) {
  std::byte* piece = nullptr;
  if (const Error error = piece_of(host, bytes, offset, piece); error != Error::success)
    return error;
  return copy({.to = to,
               .from = piece,
               .width = bytes,
               .direction = direction,
               .stream = stream,
               .waits = waits});
}

}  // namespace ptx::runtime
