# Kernels of a project that is not assay, judged by its own ctest. Found by find_package(assay), or part of add_subdirectory.
#
#   assay_add_kernel(FILE [INCLUDE folder...] [DEFINE macro...] [NVCC_FLAGS flag...] [CASES n])
#   assay_add_library(TARGET [CASES n])
#
# add the tests check.FILE: `assay check FILE`, and check.TARGET, of a shared library with a table as in <assay/assay_library.h>, which
# the target then finds. Cases that fail are kept in assay-corpus.txt of the project, and tried first from then on; what is compiled is
# kept in the build folder. PROJECT-assay there is the program with all of these: `build/gemms-assay check`.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/one_file.cmake)
if(TARGET assay_installed)  # part of the build
  set(assay_home ${assay_BINARY_DIR} installed)
else()
  get_filename_component(assay_home ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
  list(APPEND assay_home bin)
endif()
set_property(GLOBAL PROPERTY ASSAY_HOME ${assay_home})
unset(assay_home)

function(assay_add_kernel file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASES" "INCLUDE;DEFINE;NVCC_FLAGS")
  assay_take_one_file()
  set(words ${file})
  foreach(folder ${arg_INCLUDE})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND words -I ${folder})
  endforeach()
  foreach(macro ${arg_DEFINE})
    list(APPEND words -D ${macro})
  endforeach()
  foreach(flag ${arg_NVCC_FLAGS})
    list(APPEND words --nvcc-flag=${flag})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ASSAY_FILES_OF_${PROJECT_NAME} ${words})
  assay_add_test(${shown} "${arg_CASES}" ${words})
endfunction()

function(assay_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASES" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_library takes one target, but was also given: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(type none)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
  endif()
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "assay_add_library: ${target} is no shared library of this project")
  endif()
  get_property(home GLOBAL PROPERTY ASSAY_HOME)
  list(GET home 0 home)
  target_include_directories(${target} PRIVATE ${home}/include)
  set(words --library $<TARGET_FILE:${target}>)
  set_property(GLOBAL APPEND PROPERTY ASSAY_LIBRARIES_OF_${PROJECT_NAME} ${words})
  assay_add_test(${target} "${arg_CASES}" ${words})
endfunction()

# Used by the two above alone.
function(assay_add_test name cases)
  if(TEST check.${name})
    message(FATAL_ERROR "assay: ${name} is added twice")
  endif()
  if(TARGET assay_installed AND NOT TARGET assay_for_tests)
    add_custom_target(assay_for_tests ALL DEPENDS assay_installed)  # also where assay itself is EXCLUDE_FROM_ALL
  endif()
  set(more)
  if(cases)
    set(more --cases ${cases})
  endif()
  get_property(home GLOBAL PROPERTY ASSAY_HOME)
  list(JOIN home "/" home)
  add_test(NAME check.${name} COMMAND ${home}/assay check ${ARGN} ${more} --cache ${PROJECT_BINARY_DIR}/assay-cache)
  set_tests_properties(check.${name} PROPERTIES LABELS assay SKIP_RETURN_CODE 77
                                                ENVIRONMENT "ASSAY_CORPUS=${PROJECT_SOURCE_DIR}/assay-corpus.txt")
  get_property(is_to_come GLOBAL PROPERTY ASSAY_SCRIPT_OF_${PROJECT_NAME})
  if(NOT is_to_come)
    set_property(GLOBAL PROPERTY ASSAY_SCRIPT_OF_${PROJECT_NAME} ON)
    cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL assay_write_script)
  endif()
endfunction()

# Called once all kernels of the project are known.
function(assay_write_script)
  get_property(home GLOBAL PROPERTY ASSAY_HOME)
  list(JOIN home "/" home)
  set(script ${PROJECT_BINARY_DIR}/${PROJECT_NAME}-assay)
  assay_quote(program ${home}/assay)
  assay_quote(corpus ${PROJECT_SOURCE_DIR}/assay-corpus.txt)
  assay_quote(cache --cache ${PROJECT_BINARY_DIR}/assay-cache)
  assay_quote(baselines --baselines ${PROJECT_SOURCE_DIR}/baselines)
  foreach(kind FILES LIBRARIES)
    get_property(words GLOBAL PROPERTY ASSAY_${kind}_OF_${PROJECT_NAME})
    assay_quote(${kind} ${words})
  endforeach()
  file(GENERATE OUTPUT ${script} CONTENT "#!/bin/sh
# assay, with the kernels that the project lists, among which names of variants choose; all but `check` and `bench`
# take its files alone.
export ASSAY_CORPUS=${corpus}
command=$1
[ $# -eq 0 ] || shift
case $command in
  check | bench) exec ${program} $command ${FILES} ${LIBRARIES} ${cache} \"$@\" ;;
  gate | accept) exec ${program} $command \"$@\" ${FILES} ${cache} ${baselines} ;;
  codegen | counts) exec ${program} $command ${FILES} ${cache} \"$@\" ;;
esac
exec ${program} $command \"$@\"
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

# Sets a variable to the words as a shell takes them.
function(assay_quote variable)
  set(all)
  foreach(word ${ARGN})
    string(REPLACE "'" "'\\''" word "${word}")
    list(APPEND all "'${word}'")
  endforeach()
  list(JOIN all " " all)
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()
