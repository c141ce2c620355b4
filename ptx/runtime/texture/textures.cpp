// Texture and surface objects, made as CUDA makes them on an H100, and refused as it refuses them.
#include "ptx/machine/texture/texture.h"

#include <algorithm>

#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

using Of = TextureRequest::Of;

constexpr std::size_t alignment = 512, pitch_alignment = 32, most_pitch = 2097120,
                      most_width = 131072, most_height = 65000;
constexpr std::size_t most_linear_bytes = std::size_t{1} << 32, most_texels = 1 << 30;
constexpr int of_reals = 2, linear_filter = 1, border = 3;

// What of a texture is the resource's, wherever it is from.
void take_array(TextureRequest& asked) {
  const auto found = find_handle(state().arrays, asked.memory);
  if (found == state().arrays.end()) throw Failure{Error::invalid_resource_handle};
  const Array& array = **found;
  asked.format = array.facts.format;
  asked.memory = array.memory;
  asked.width = array.facts.width, asked.height = array.rows(), asked.depth = array.slices();
  asked.pitch = array.row_bytes();
  asked.is_layered = array.is_layered();
}

void check_memory(const TextureRequest& asked) {
  const auto address = reinterpret_cast<std::uintptr_t>(asked.memory);
  if (address == 0 || address % alignment != 0) throw Failure{Error::invalid_value};
  const bool is_too_large =
      asked.of == Of::linear
          ? asked.width / bytes_of_texel(asked.format) > most_linear_texels(asked.format)
          : asked.width > most_width || asked.height > most_height || asked.pitch > most_pitch ||
                asked.pitch % pitch_alignment != 0;
  // Of what is left beyond the last whole texel nothing is read, but it counts.
  const bool has_too_many_bytes = asked.of == Of::linear && asked.width > most_linear_bytes;
  if (is_too_large || has_too_many_bytes) throw Failure{Error::invalid_value};
}

void check_reading(const TextureRequest& asked) {
  const auto is_known = [](int edge) { return edge >= 0 && edge <= border; };
  if (!std::ranges::all_of(asked.edges, is_known) || asked.filter < 0 ||
      asked.filter > linear_filter)
    throw Failure{Error::invalid_value};
  if (asked.reads_fractions && asked.format.bits[0] == 32)
    throw Failure{Error::invalid_norm_setting};
  if (asked.filter == linear_filter && asked.format.kind != of_reals && !asked.reads_fractions)
    throw Failure{Error::invalid_filter_setting};
}

void check(const TextureRequest& asked) {
  if (!is_valid(asked.format)) throw Failure{Error::invalid_channel_descriptor};
  if (asked.of != Of::array) check_memory(asked);
  check_reading(asked);
}

// What this machine lacks of what CUDA has; null if nothing.
const char* lack_of(const TextureRequest& asked) {
  const bool has_border = asked.of != Of::linear && std::ranges::count(asked.edges, border) != 0;
  const bool is_coloured = std::ranges::any_of(asked.border, [](auto b) { return b != 0; });
  if (asked.of == Of::mipmaps) return "cudaCreateTextureObject of an array with mipmaps";
  if (asked.has_view) return "cudaCreateTextureObject with another view of its array";
  if (asked.filter == linear_filter && asked.of != Of::linear)
    return "cudaCreateTextureObject with a linear filter, whose weights are not documented to the "
           "bit";
  if (asked.is_srgb && asked.reads_fractions) return "cudaCreateTextureObject of sRGB colours";
  if (has_border && is_coloured && asked.format.bits[0] < 32)
    return "cudaCreateTextureObject with a border of channels of less than 32 bits";
  return nullptr;
}

Texture texture_of(const TextureRequest& asked) {
  const auto& bits = asked.format.bits;
  Texture made{
      .address = reinterpret_cast<std::uint64_t>(asked.memory),
      .pitch = asked.pitch,
      .width = asked.width,
      .height = asked.height,
      .slice = asked.pitch * asked.height,
      .depth = asked.depth,
      .is_layered = asked.is_layered,
      .channels = static_cast<int>(std::ranges::count_if(bits, [](int b) { return b != 0; })),
      .bits = bits[0],
      .kind = static_cast<Texture::Kind>(asked.format.kind),
      .is_linear = asked.of == Of::linear,
      .is_normalised = asked.is_normalised,
      .reads_fractions = asked.reads_fractions,
      .edges = {static_cast<Texture::Edge>(asked.edges[0]),
                static_cast<Texture::Edge>(asked.edges[1]),
                static_cast<Texture::Edge>(asked.edges[2])},
      .border = asked.border};
  if (made.is_linear) made.width /= bytes_of_texel(asked.format), made.height = 1;
  return made;
}

}  // namespace

std::size_t most_linear_texels(const ChannelFormat& format) {
  return std::min(most_texels, most_linear_bytes / bytes_of_texel(format));
}

Error create_texture(unsigned long long& handle, const TextureRequest& request) {
  const char* lack = nullptr;
  const Error error = call([&] {
    forbid_while_capturing();
    TextureRequest asked = request;
    if (asked.of == Of::array) take_array(asked);
    if (asked.of != Of::mipmaps) check(asked);
    if ((lack = lack_of(asked)) != nullptr) return;
    handle = state().memory.add_texture(texture_of(asked));
    state().textures[handle] = asked.told;
  });
  return lack != nullptr ? not_supported(lack) : error;
}

Error create_surface(unsigned long long& handle, const void* array, const TextureTold& told) {
  return call([&] {
    forbid_while_capturing();
    TextureRequest asked{.memory = array};
    take_array(asked);
    Texture made = texture_of(asked);
    made.is_surface = true;
    handle = state().memory.add_texture(made);
    state().textures[handle] = told;
  });
}

Error destroy_texture(unsigned long long handle) {
  const auto work = [&] {
    forbid_while_capturing();
    state().under_way.finish_all();
    state().memory.remove_texture(handle);
    state().textures.erase(handle);
  };
  return call(work, WhenLost::go_on);
}

Error told_of_texture(unsigned long long handle, TextureTold& told) {
  return call([&] {
    const auto found = state().textures.find(handle);
    if (found == state().textures.end()) throw Failure{Error::invalid_value};
    told = found->second;
  });
}

}  // namespace ptx::runtime
