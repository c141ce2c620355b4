# Kernels of a project that is not assay, judged by its own ctest. Found by find_package(assay), or part of add_subdirectory.
#
#   assay_add_kernel(FILE [INCLUDE folder...] [DEFINE macro...] [NVCC_FLAGS flag...] [CASES n])
#
# adds the test check.FILE: `assay check FILE`. Cases that fail are kept in assay-corpus.txt of the project, and tried first from then
# on; what is compiled is kept in the build folder. PROJECT-assay there is the program with these files: `build/gemms-assay check`.
include_guard(GLOBAL)
if(TARGET assay_installed)  # part of the build
  set_property(GLOBAL PROPERTY ASSAY_PROGRAM ${assay_BINARY_DIR}/installed/assay)
else()
  cmake_path(SET assay_program NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../../bin/assay)
  set_property(GLOBAL PROPERTY ASSAY_PROGRAM ${assay_program})
  unset(assay_program)
endif()

function(assay_add_kernel file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASES" "INCLUDE;DEFINE;NVCC_FLAGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_kernel takes one file, but was also given: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "assay_add_kernel: there is no file ${file}")
  endif()
  set(flags)
  foreach(folder ${arg_INCLUDE})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND flags -I ${folder})
  endforeach()
  foreach(macro ${arg_DEFINE})
    list(APPEND flags -D ${macro})
  endforeach()
  foreach(flag ${arg_NVCC_FLAGS})
    list(APPEND flags --nvcc-flag=${flag})
  endforeach()
  set(cases)
  if(arg_CASES)
    set(cases --cases ${arg_CASES})
  endif()
  get_property(program GLOBAL PROPERTY ASSAY_PROGRAM)
  if(TARGET assay_installed AND NOT TARGET assay_for_tests)
    add_custom_target(assay_for_tests ALL DEPENDS assay_installed)  # also where assay itself is EXCLUDE_FROM_ALL
  endif()
  set(cache ${PROJECT_BINARY_DIR}/assay-cache)
  set(corpus ${PROJECT_SOURCE_DIR}/assay-corpus.txt)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
  if(TEST check.${shown})
    message(FATAL_ERROR "assay_add_kernel: ${shown} is added twice")
  endif()
  add_test(NAME check.${shown} COMMAND ${program} check ${file} ${flags} ${cases} --cache ${cache})
  set_tests_properties(check.${shown} PROPERTIES LABELS assay SKIP_RETURN_CODE 77 ENVIRONMENT "ASSAY_CORPUS=${corpus}")

  # Each call writes the script anew, with one file more.
  set_property(GLOBAL APPEND PROPERTY ASSAY_WORDS_OF_${PROJECT_NAME} ${file} ${flags})
  get_property(words GLOBAL PROPERTY ASSAY_WORDS_OF_${PROJECT_NAME})
  assay_write_script(${PROJECT_BINARY_DIR}/${PROJECT_NAME}-assay ${program} ${cache} ${corpus} ${words})
endfunction()

# Used by `assay_add_kernel` alone.
function(assay_write_script script program cache corpus)
  set(words)
  foreach(word ${program} ${cache} ${corpus} ${ARGN})
    string(REPLACE "'" "'\\''" word "${word}")
    list(APPEND words "'${word}'")
  endforeach()
  list(POP_FRONT words program cache corpus)
  list(JOIN words " " words)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT
"#!/bin/sh
# assay, with the kernels that the project lists: `check` and `codegen` take them all; names of variants choose among them.
export ASSAY_CORPUS=@corpus@
command=$1
[ $# -eq 0 ] || shift
case $command in
  check | codegen) exec @program@ \"$command\" @words@ --cache @cache@ \"$@\" ;;
esac
exec @program@ $command \"$@\"
")
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()
