// Tensor maps, made as cuTensorMapEncodeTiled makes them and refused as it refuses them.
#include <algorithm>
#include <cstring>

#include "ptx/machine/async/tensor_map.h"
#include "ptx/runtime/runtime.h"

namespace ptx::runtime {
namespace {

bool is_valid(const Tensor& t) {
  if (t.dimensions < 1 || t.dimensions > TensorMap::most_dimensions || t.address == nullptr ||
      t.sizes == nullptr || t.box == nullptr || t.steps == nullptr ||
      (t.strides == nullptr && t.dimensions > 1) ||
      reinterpret_cast<std::uint64_t>(t.address) % 16 != 0)
    return false;
  for (std::uint64_t d = 0; d < t.dimensions; ++d) {
    if (t.sizes[d] < 1 || t.sizes[d] > std::uint64_t{1} << 32) return false;
    if (t.box[d] < 1 || t.box[d] > 256 || t.steps[d] < 1 || t.steps[d] > 8) return false;
    if (d > 0 && (t.strides[d - 1] % 16 != 0 || t.strides[d - 1] >= std::uint64_t{1} << 40))
      return false;
  }
  const auto row_bytes = static_cast<int>(t.box[0]) * t.element_bytes;
  return row_bytes % 16 == 0 && (t.swizzled_bytes == 0 || row_bytes <= t.swizzled_bytes);
}

// What this machine lacks; null if nothing.
const char* lack_of(const Tensor& t) {
  if (t.element_bytes == 0) return "cuTensorMapEncodeTiled for elements of that type";
  if (!t.is_plain) return "cuTensorMapEncodeTiled for interleaved tensors, or a fill with NaN";
  if (t.steps != nullptr && std::any_of(t.steps, t.steps + std::min<std::uint64_t>(t.dimensions, 5),
                                        [](std::uint32_t step) { return step > 1; }))
    return "cuTensorMapEncodeTiled for every so many elements";
  if (t.swizzled_bytes != 0 && t.box != nullptr &&
      static_cast<int>(t.box[0]) * t.element_bytes < t.swizzled_bytes)
    return "cuTensorMapEncodeTiled for rows shorter than their swizzle";
  return nullptr;
}

}  // namespace

Error encode_tensor_map(void* map, const Tensor& t) {
  if (const char* const lack = lack_of(t)) return not_supported(lack);
  if (map == nullptr || !is_valid(t)) return Error::invalid_value;
  TensorMap made{
      .mark = TensorMap::our_mark,
      .address = reinterpret_cast<std::uint64_t>(t.address),
      .element_bytes = static_cast<std::uint8_t>(t.element_bytes),
      .dimensions = static_cast<std::uint8_t>(t.dimensions),
      .swizzle = static_cast<std::uint8_t>(t.swizzled_bytes == 0 ? 0 : t.swizzled_bytes / 16 - 1),
      .is_real = t.is_real};
  for (std::size_t d = 0; d < t.dimensions; ++d) {
    made.last[d] = static_cast<std::uint32_t>(t.sizes[d] - 1);
    made.box[d] = static_cast<std::uint16_t>(t.box[d]);
    if (d > 0) made.strides[d - 1] = t.strides[d - 1];
  }
  std::memset(map, 0, TensorMap::bytes);
  std::memcpy(map, &made, sizeof made);
  return Error::success;
}

}  // namespace ptx::runtime
