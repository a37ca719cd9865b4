# SPDX-License-Identifier: MIT
# The program: its core twice, as fast as it can be and reporting what it does, and its ns-3 types. An object library, so that a
# linker does not leave out types that only their names refer to.
set(CORE "${CMAKE_CURRENT_LIST_DIR}/${CARRICK_PROGRAM}.c")
foreach(kind plain traced)
  add_library(carrick-${CARRICK_PROGRAM}-${kind} OBJECT "${CORE}")
  target_include_directories(carrick-${CARRICK_PROGRAM}-${kind} PRIVATE "${CMAKE_CURRENT_LIST_DIR}/runtime/include")
  set_target_properties(carrick-${CARRICK_PROGRAM}-${kind} PROPERTIES C_STANDARD 11 COMPILE_OPTIONS "-w;-O2")
endforeach()
target_compile_definitions(carrick-${CARRICK_PROGRAM}-traced PRIVATE
  CARRICK_TRACE=1 ${CARRICK_PROGRAM}_program=${CARRICK_PROGRAM}_traced)

add_library(carrick-${CARRICK_PROGRAM} OBJECT "${CMAKE_CURRENT_LIST_DIR}/${CARRICK_PROGRAM}-type.cc")
target_link_libraries(carrick-${CARRICK_PROGRAM} PUBLIC carrick-host)
target_sources(carrick-${CARRICK_PROGRAM} INTERFACE
  $<TARGET_OBJECTS:carrick-${CARRICK_PROGRAM}-plain> $<TARGET_OBJECTS:carrick-${CARRICK_PROGRAM}-traced>)

# The examples know no program either: the type of its protocol is linked to them, so that a compiler cache has them for all
# programs.
file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/example-program.cc" CONTENT
  "extern const char *const g_exampleProgram;\nconst char *const g_exampleProgram = \"${CARRICK_TYPE}\";\n")
file(GLOB EXAMPLES "${CMAKE_CURRENT_LIST_DIR}/examples/*.cc")
foreach(source IN LISTS EXAMPLES)
  get_filename_component(example "${source}" NAME_WE)
  add_executable(${example} "${source}" "${CMAKE_CURRENT_BINARY_DIR}/example-program.cc")
  target_link_libraries(${example} carrick-${CARRICK_PROGRAM})
endforeach()

if(CARRICK_TESTS)
  foreach(test refuse fields damaged)
    add_executable(${test} "${CMAKE_CURRENT_LIST_DIR}/test/${test}.cc" "${CMAKE_CURRENT_BINARY_DIR}/example-program.cc")
    target_include_directories(${test} PRIVATE "${CMAKE_CURRENT_LIST_DIR}/examples")
    target_link_libraries(${test} carrick-${CARRICK_PROGRAM})
  endforeach()
endif()
