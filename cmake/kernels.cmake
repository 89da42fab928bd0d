# Each file of src/engine/kernels is compiled once per ISA tier, with HASTEN_TIER set.
# The scalar tier is the oracle of the others, not fast: -O3 would only cost compile time.
set(HASTEN_TIER_FLAGS_0 -O2)
set(HASTEN_TIER_FLAGS_1 -O3 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -maes -mpclmul)
set(HASTEN_TIER_FLAGS_2 ${HASTEN_TIER_FLAGS_1} -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl
  -mprefer-vector-width=512)

function(hasten_add_kernels target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/kernels/*.cpp)
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/engine/kernels/select.cpp)
  set(tiers 0)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(tiers 0 1 2)
    if(HASTEN_SANITIZE)
      # The same source at two widths is enough to find a bad access; the third costs minutes.
      set(tiers 0 1)
      set_source_files_properties(src/engine/kernels/select.cpp PROPERTIES
        COMPILE_DEFINITIONS HASTEN_NO_AVX512)
    endif()
  endif()
  foreach(tier ${tiers})
    set(lib hasten_kernels_${tier})
    add_library(${lib} OBJECT ${sources})
    target_include_directories(${lib} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${lib} PRIVATE HASTEN_TIER=${tier})
    if(tier EQUAL 0)
      # With clang Highway would emulate vectors of 128 bits.
      target_compile_definitions(${lib} PRIVATE $<$<CXX_COMPILER_ID:Clang>:HWY_COMPILE_ONLY_SCALAR>)
    endif()
    # Kernels want the optimizer in every build type; NaN and signed zeros are values like others.
    set(flags ${HASTEN_TIER_FLAGS_${tier}})
    if(HASTEN_SANITIZE)
      # Register tiles with a check at each access take an hour at -O3.
      list(REMOVE_ITEM flags -O3 -O2)
      list(PREPEND flags -O1)
    endif()
    if(HASTEN_FUZZ)
      # Edges tell the fuzzers enough of a loop; a call at each comparison would make it crawl.
      list(APPEND flags -fno-sanitize-coverage=trace-cmp)
    endif()
    target_compile_options(${lib} PRIVATE ${flags} -fno-exceptions -fno-rtti
      -fno-math-errno -fno-trapping-math)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${lib}>)
  endforeach()
endfunction()
