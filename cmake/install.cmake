# What is installed: the program, the libraries that it and compiled kernels stand on, and in include/assay and share/assay what
# kernels are compiled with. It may be moved: nothing in it names a folder but its own, by its own place.
set(libraries simt ptx assay_registry)
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS assay_installed RUNTIME DESTINATION bin COMPONENT assay)
install(TARGETS ${libraries} LIBRARY DESTINATION lib/assay COMPONENT assay)
if(ASSAY_PTX)
  install(TARGETS ptx_cudart ARCHIVE DESTINATION lib/assay COMPONENT assay)
endif()
install(FILES door/assay.h DESTINATION include/assay COMPONENT assay)
install(FILES kernels/gemm.h kernels/register.h DESTINATION include/assay/kernels COMPONENT assay)
install(DIRECTORY simt/include simt/cuda DESTINATION include/assay/simt COMPONENT assay)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/assay DESTINATION share COMPONENT assay FILES_MATCHING PATTERN *.compile PATTERN *.link)
install(FILES LICENSE DESTINATION share/doc/assay COMPONENT assay RENAME copyright)
