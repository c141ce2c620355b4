# Faulty kernels as nvcc compiles them, for the PTX machine: how a catalogue adds one.
add_library(assay_sight_defects INTERFACE)
target_link_options(assay_sight_defects INTERFACE -Wl,--no-as-needed)
target_link_libraries(assay_sight_defects INTERFACE assay_registry)

# assay_sight_library(FILE): compiles a file of faulty kernels for the machine, once.
function(assay_sight_library file)
  cmake_path(GET file STEM stem)
  if(TARGET ptx_defect_${stem})
    return()
  endif()
  assay_ptx_library(ptx_defect_${stem} ${file} 0)
  target_compile_options(ptx_defect_${stem} PRIVATE -w)
  target_link_libraries(assay_sight_defects INTERFACE ptx_defect_${stem})
endfunction()

# assay_sight_row(NAME CLAIM CASE SAYS): that one run of the case is to show the fault to the claim.
function(assay_sight_row name claim case says)
  set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_SIGHT_DEFECTS "{\"${name}\", \"${claim}\", \"${case}\", R\"(${says})\"},\n")
endfunction()
