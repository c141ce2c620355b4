# Plants faults for tests: edits of real stages, made under the build folder. Shipped code has none of them.
include_guard(GLOBAL)

# plant(NAME VARIANT FILE FIND REPLACE AND_FIND AND_REPLACE): kernels/FILE with FIND replaced, AND_FIND too unless it
# is empty, and VARIANT renamed to NAME. Sets `planted` to the edited file, and `gone` to a text that kernels/FILE no
# longer has. The caller lets its test fail then, not the build: somebody may be at work there.
function(plant name variant file find replace and_find and_replace)
  read_stage(${file})
  set(gone "")
  replace_in_source("${find}" "${replace}")
  if(NOT and_find STREQUAL "")
    replace_in_source("${and_find}" "${and_replace}")
  endif()
  replace_in_source("\"${variant}\"" "\"${name}\"")
  set(gone "${gone}" PARENT_SCOPE)
  set(planted ${CMAKE_CURRENT_BINARY_DIR}/planted/${name}.cu PARENT_SCOPE)
  file(CONFIGURE OUTPUT planted/${name}.cu CONTENT "${source}" @ONLY)
endfunction()

# Sets `source` to the text of kernels/FILE. The kernels that stages share are in their places, so that faults can be planted
# there too.
function(read_stage file)
  set(stage ${PROJECT_SOURCE_DIR}/kernels/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${stage})
  file(READ ${stage} source)
  foreach(shared add_parts.h copy_ahead.h copies_by_engine.h copies_by_threads.h last_columns.h warp_roles.h)
    set(header ${PROJECT_SOURCE_DIR}/kernels/${shared})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(READ ${header} text)
    string(REPLACE "#pragma once" "" text "${text}")
    set(include "#include \"kernels/${shared}\"")
    string(FIND "${source}" "${include}" at)
    if(NOT at EQUAL -1)
      string(SUBSTRING "${source}" 0 ${at} before)
      string(SUBSTRING "${source}" ${at} -1 after)
      string(REPLACE "${include}" "" after "${after}")  # for it may be asked for twice
      set(source "${before}${text}${after}")
    endif()
  endforeach()
  set(source "${source}" PARENT_SCOPE)
endfunction()

# Used by `plant` alone: replaces a text in its variable `source`, or sets `gone` to a text that is not there.
function(replace_in_source find replace)
  string(FIND "${source}" "${find}" at)
  if(at EQUAL -1)
    set(gone "${find}" PARENT_SCOPE)
  endif()
  string(REPLACE "${find}" "${replace}" source "${source}")
  set(source "${source}" PARENT_SCOPE)
endfunction()
