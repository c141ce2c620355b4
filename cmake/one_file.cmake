# For assay_add_kernel(FILE ...), of this project as of others, which has parsed its arguments: makes `file` absolute, and sets `shown`
# to how it is called within the project.
macro(assay_take_one_file)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_kernel takes one file, but was also given: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "assay_add_kernel: there is no file ${file}")
  endif()
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
endmacro()
