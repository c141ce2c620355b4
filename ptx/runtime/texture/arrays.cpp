// Arrays: rows of elements that only copies and textures reach.
#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

struct Sizes {
  std::size_t width, height, depth;
};
constexpr Sizes most_flat = {131072, 65536, 0}, most_in_layers = {32768, 32768, 2048},
                most_in_planes = {16384, 16384, ~std::size_t{0}};
constexpr unsigned layered = 1, for_surfaces = 2, known_flags = layered | for_surfaces;

// Layers may have one dimension; planes have two.
bool has_valid_sizes(const ArrayFacts& f) {
  const bool is_layered = (f.flags & layered) != 0;
  const Sizes& most = is_layered ? most_in_layers : f.depth == 0 ? most_flat : most_in_planes;
  const bool lacks_some =
      f.width == 0 || (is_layered ? f.depth == 0 : f.depth != 0 && f.height == 0);
  return !lacks_some && f.width <= most.width && f.height <= most.height && f.depth <= most.depth;
}

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

Error allocate_array(void** array, const ArrayFacts& facts) {
  return call([&] {
    if (array == nullptr) throw Failure{Error::invalid_value};
    forbid_while_capturing();
    if (!is_valid(facts.format)) throw Failure{Error::invalid_channel_descriptor};
    if ((facts.flags & ~known_flags) != 0 || !has_valid_sizes(facts))
      throw Failure{Error::invalid_value};
    auto made = std::make_unique<Array>(Array{facts});
    const std::string slices = facts.depth == 0 ? "" : std::to_string(facts.depth) + " x ";
    made->memory = allocate_now(made->row_bytes() * made->rows() * made->slices(), Use::device,
                                "an array of " + slices + std::to_string(made->rows()) + " x " +
                                    std::to_string(facts.width) + " elements");
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
        piece.x <= row && piece.y <= rows && piece.z < array.slices() &&
        (piece.is_run ? piece.width <= row * rows - piece.y * row - piece.x
                      : piece.width <= row - piece.x && piece.height <= rows - piece.y);
    if (!is_inside) throw Failure{Error::invalid_value};
    place = {static_cast<std::byte*>(array.memory) + (piece.z * rows + piece.y) * row + piece.x,
             row};
  });
}

}  // namespace ptx::runtime
