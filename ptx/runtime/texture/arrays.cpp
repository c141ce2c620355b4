// Arrays: rows of elements that only copies and textures reach.
#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

constexpr std::size_t most_width = 131072, most_height = 65536;
constexpr unsigned for_surfaces = 2, known_flags = for_surfaces;

const Array& array_of(const void* handle) {
  const auto found = find_handle(state().arrays, handle);
  if (found == state().arrays.end()) throw Failure{Error::invalid_resource_handle};
  return **found;
}

}  // namespace

std::size_t bytes_of_texel(const ChannelFormat& format) {
  std::size_t bits = 0;
  for (const int each : format.bits) bits += static_cast<std::size_t>(each);
  return bits / 8;
}

// One, two or four channels of the same size.
bool is_valid(const ChannelFormat& format) {
  const auto& [x, y, z, w] = format.bits;
  constexpr int of_reals = 2;
  const bool is_size = x == 16 || x == 32 || (x == 8 && format.kind != of_reals);
  const bool are_alike = (y == 0 && z == 0) || (y == x && (z == 0 || z == x));
  return format.kind >= 0 && format.kind <= of_reals && is_size && are_alike && w == z;
}

Error allocate_array(void** array, const ChannelFormat& format, std::size_t width,
                     std::size_t height, unsigned flags) {
  return call([&] {
    if (array == nullptr) throw Failure{Error::invalid_value};
    forbid_while_capturing();
    if (!is_valid(format)) throw Failure{Error::invalid_channel_descriptor};
    if (width == 0 || width > most_width || height > most_height || (flags & ~known_flags) != 0)
      throw Failure{Error::invalid_value};
    auto made = std::make_unique<Array>(Array{{format, width, height, flags}});
    made->memory = allocate_now(made->row_bytes() * made->rows(), Use::device,
                                "an array of " + std::to_string(made->rows()) + " x " +
                                    std::to_string(width) + " elements");
    *array = made.get();
    state().arrays.insert(std::move(made));
  });
}

Error release_array(void* array) {
  const auto work = [&] {
    if (array == nullptr) return;
    void* const memory = array_of(array).memory;
    if (release(memory, Use::device) != Error::success) throw Failure{Error::invalid_value};
    state().arrays.erase(find_handle(state().arrays, array));
  };
  return call(work, WhenLost::go_on);
}

Error facts_of_array(const void* array, ArrayFacts& facts) {
  return call([&] { facts = array_of(array).facts; });
}

Error place_in_array(const PieceOfArray& piece, PlaceInArray& place) {
  return call([&] {
    const Array& array = array_of(piece.array);
    const std::size_t row = array.row_bytes(), rows = array.rows();
    const bool is_inside =
        piece.x <= row && piece.y <= rows &&
        (piece.is_run ? piece.width <= row * rows - piece.y * row - piece.x
                      : piece.width <= row - piece.x && piece.height <= rows - piece.y);
    if (!is_inside) throw Failure{Error::invalid_value};
    place = {static_cast<std::byte*>(array.memory) + piece.y * row + piece.x, row};
  });
}

}  // namespace ptx::runtime
