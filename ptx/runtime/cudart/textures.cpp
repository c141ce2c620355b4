// Texture and surface objects.
#include <cstring>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

using rt::TextureRequest;

static_assert(static_cast<int>(TextureRequest::Of::mipmaps) == cudaResourceTypeMipmappedArray);
static_assert(static_cast<int>(TextureRequest::Of::rows) == cudaResourceTypePitch2D);

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

rt::ChannelFormat as_format(const cudaChannelFormatDesc& d) {
  return {{d.x, d.y, d.z, d.w}, static_cast<int>(d.f)};
}

void take_resource(const cudaResourceDesc& resource, TextureRequest& to) {
  to.of = static_cast<TextureRequest::Of>(resource.resType);
  const auto& of = resource.res;
  switch (resource.resType) {
    case cudaResourceTypeArray: to.memory = of.array.array; break;
    case cudaResourceTypeMipmappedArray: break;
    case cudaResourceTypeLinear:
      to.memory = of.linear.devPtr;
      to.format = as_format(of.linear.desc);
      to.width = of.linear.sizeInBytes;
      break;
    case cudaResourceTypePitch2D:
      to.memory = of.pitch2D.devPtr;
      to.format = as_format(of.pitch2D.desc);
      to.width = of.pitch2D.width, to.height = of.pitch2D.height;
      to.pitch = of.pitch2D.pitchInBytes;
      break;
  }
  to.told.resource = bytes_of(resource);
}

void take_reading(const cudaTextureDesc& reading, TextureRequest& to) {
  const auto edge = [&](int n) { return static_cast<int>(reading.addressMode[n]); };
  to.edges = {edge(0), edge(1), edge(2)};
  to.filter = static_cast<int>(reading.filterMode);
  to.reads_fractions = reading.readMode == cudaReadModeNormalizedFloat;
  to.is_normalised = reading.normalizedCoords != 0;
  to.is_srgb = reading.sRGB != 0;
  static_assert(sizeof reading.borderColor == sizeof to.border);
  std::memcpy(to.border.data(), reading.borderColor, sizeof reading.borderColor);
  to.told.reading = bytes_of(reading);
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* reading,
                                    const cudaResourceViewDesc* view) {
  if (object == nullptr || resource == nullptr || reading == nullptr ||
      resource->resType > cudaResourceTypePitch2D)
    return invalid_value();
  TextureRequest asked;
  take_resource(*resource, asked);
  take_reading(*reading, asked);
  asked.has_view = view != nullptr && view->format != cudaResViewFormatNone;
  return as_cuda(rt::create_texture(*object, asked));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return as_cuda(rt::destroy_texture(object));
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  if (resource == nullptr) return invalid_value();
  rt::TextureTold told;
  const ptx::Error error = rt::told_of_texture(object, told);
  if (error == ptx::Error::success) std::memcpy(resource, told.resource.data(), sizeof *resource);
  return as_cuda(error);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* reading, cudaTextureObject_t object) {
  if (reading == nullptr) return invalid_value();
  rt::TextureTold told;
  const ptx::Error error = rt::told_of_texture(object, told);
  if (error == ptx::Error::success) std::memcpy(reading, told.reading.data(), sizeof *reading);
  return as_cuda(error);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
    return invalid_value();
  return as_cuda(rt::create_surface(*object, resource->res.array.array, {bytes_of(*resource), {}}));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return as_cuda(rt::destroy_texture(object));
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return cudaGetTextureObjectResourceDesc(resource, object);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* texels,
                                                 const cudaChannelFormatDesc* format, int device) {
  if (texels == nullptr || format == nullptr || device != 0 || !rt::is_valid(as_format(*format)))
    return invalid_value();
  *texels = rt::most_linear_texels(as_format(*format));
  return cudaSuccess;
}

}  // extern "C"
