#include "ptx/runtime/errors.h"

#include <algorithm>
#include <iterator>

namespace ptx {

namespace {

struct Entry {
  Error error;
  const char* name;
  const char* text;
};

constexpr Entry entries[] = {
    {Error::success, "cudaSuccess", "no error"},
    {Error::invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {Error::memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {Error::invalid_configuration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {Error::invalid_pitch_value, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {Error::invalid_symbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {Error::invalid_device_pointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {Error::invalid_channel_descriptor, "cudaErrorInvalidChannelDescriptor",
     "invalid channel descriptor"},
    {Error::invalid_filter_setting, "cudaErrorInvalidFilterSetting",
     "linear filtering not supported for non-float type"},
    {Error::invalid_norm_setting, "cudaErrorInvalidNormSetting",
     "read as normalized float not supported for 32-bit non float type"},
    {Error::invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {Error::missing_configuration, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {Error::invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {Error::invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {Error::no_kernel_image_for_device, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {Error::invalid_ptx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {Error::unsupported_ptx_version, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {Error::file_not_found, "cudaErrorFileNotFound", "file not found"},
    {Error::invalid_resource_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {Error::lossy_query, "cudaErrorLossyQuery",
     "attempted introspection would be semantically lossy"},
    {Error::illegal_state, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {Error::symbol_not_found, "cudaErrorSymbolNotFound", "named symbol not found"},
    {Error::not_ready, "cudaErrorNotReady", "device not ready"},
    {Error::illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {Error::launch_out_of_resources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {Error::launch_timeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {Error::cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {Error::assert, "cudaErrorAssert", "device-side assert triggered"},
    {Error::host_memory_already_registered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {Error::host_memory_not_registered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {Error::illegal_instruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {Error::misaligned_address, "cudaErrorMisalignedAddress", "misaligned address"},
    {Error::launch_failure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {Error::not_permitted, "cudaErrorNotPermitted", "operation not permitted"},
    {Error::not_supported, "cudaErrorNotSupported", "operation not supported"},
    {Error::stream_capture_unsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {Error::stream_capture_invalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {Error::stream_capture_merge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {Error::stream_capture_unmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {Error::stream_capture_unjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {Error::stream_capture_isolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {Error::stream_capture_implicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {Error::captured_event, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {Error::stream_capture_wrong_thread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {Error::graph_exec_update_failure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {Error::invalid_cluster_size, "cudaErrorInvalidClusterSize",
     "a kernel launch error has occurred due to cluster misconfiguration"},
};

constexpr Entry unknown{Error::success, "unrecognized error code", "unrecognized error code"};

const Entry& entry_of(Error error) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry.error == error; });
  return found == std::end(entries) ? unknown : *found;
}

}  // namespace

const char* name_of(Error error) { return entry_of(error).name; }
const char* text_of(Error error) { return entry_of(error).text; }

}  // namespace ptx
