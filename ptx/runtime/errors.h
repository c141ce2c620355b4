// The errors that CUDA calls of host code return here, by NVIDIA's numbers.
#pragma once

#include <string>

namespace ptx {

enum class Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_pitch_value = 12,
  invalid_symbol = 13,
  invalid_device_pointer = 17,
  invalid_channel_descriptor = 20,
  invalid_memcpy_direction = 21,
  invalid_filter_setting = 26,
  invalid_norm_setting = 27,
  missing_configuration = 52,
  invalid_device_function = 98,
  invalid_device = 101,
  no_kernel_image_for_device = 209,
  invalid_ptx = 218,
  unsupported_ptx_version = 222,
  file_not_found = 301,
  invalid_resource_handle = 400,
  illegal_state = 401,
  lossy_query = 402,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  cooperative_launch_too_large = 720,
  assert = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  illegal_instruction = 715,
  misaligned_address = 716,
  launch_failure = 719,
  not_permitted = 800,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  graph_exec_update_failure = 910,
  invalid_cluster_size = 912,
};

const char* name_of(Error);  // "cudaErrorInvalidValue"; "unrecognized error code" for others
const char* text_of(Error);  // "invalid argument"

}  // namespace ptx
