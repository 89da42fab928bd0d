# Generates C++ headers from the .fbs schemas, at build time.
find_program(FLATC flatc REQUIRED)
function(hasten_add_schema target schema)
  get_filename_component(name ${schema} NAME_WE)
  set(dir ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${dir}/${name}_generated.h
    COMMAND ${FLATC} --cpp --scoped-enums -o ${dir} ${CMAKE_SOURCE_DIR}/${schema}
    DEPENDS ${CMAKE_SOURCE_DIR}/${schema})
  target_sources(${target} PRIVATE ${dir}/${name}_generated.h)
  target_include_directories(${target} SYSTEM PRIVATE ${dir})
endfunction()
