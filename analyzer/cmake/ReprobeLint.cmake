# reprobe_lint(TARGET [NAME name] [ALL] [STAGE stage] [RULES glob...] [OPTIONS option...])
#
# Makes the target `reprobe-TARGET` (or NAME; with ALL a part of the default build), which scans TARGET's C, C++ and CUDA
# sources and fails on findings. Facts are made by one build edge a source, with the headers that it reads as
# dependencies, and judged by one edge a target: a build parses again only what changed, as many at a time as it compiles,
# and on other machines where it compiles there. Call it after the target has all of its sources.
#
# OPTIONS go to `reprobe scan`: --config FILE, --baseline FILE, --torch-root DIR ...
# The findings are also left as JSON in reprobe/TARGET.json below the build folder.
include_guard(GLOBAL)

find_program(REPROBE_EXECUTABLE reprobe HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin)

function(_reprobe_language source result)
  get_source_file_property(_language ${source} LANGUAGE)
  if(NOT _language MATCHES "^(C|CXX|CUDA)$")
    cmake_path(GET source EXTENSION LAST_ONLY _extension)
    set(_language "")
    if(_extension MATCHES "^\\.(c|cc|cpp|cxx|c\\+\\+|C|CPP|cu)$")
      set(_language CXX)
    endif()
  endif()
  set(${result} "${_language}" PARENT_SCOPE)
endfunction()

function(reprobe_lint target)
  cmake_parse_arguments(PARSE_ARGV 1 _lint "ALL" "NAME;STAGE" "RULES;OPTIONS")
  if(_lint_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "reprobe_lint(${target}): unknown arguments: ${_lint_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "reprobe_lint(${target}): there is no such target (yet)")
  endif()
  if(NOT REPROBE_EXECUTABLE)
    message(FATAL_ERROR "reprobe_lint(${target}): reprobe was not found; put it on the PATH or set REPROBE_EXECUTABLE")
  endif()
  if(NOT _lint_NAME)
    set(_lint_NAME reprobe-${target})
  endif()

  # Only these generators write compile commands; with others they are inferred.
  set(_database "")
  set(_commands "")
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set_property(TARGET ${target} PROPERTY EXPORT_COMPILE_COMMANDS ON)
    set(_commands ${CMAKE_BINARY_DIR}/compile_commands.json)
    set(_database -p ${_commands})
  endif()

  set(_folder ${CMAKE_BINARY_DIR}/reprobe/${_lint_NAME})
  get_target_property(_sources ${target} SOURCES)
  get_target_property(_source_folder ${target} SOURCE_DIR)
  set(_all_facts "")
  foreach(_source IN LISTS _sources)
    if(_source MATCHES "^\\$<")
      message(WARNING "reprobe_lint(${target}): not scanned, as only the build knows it: ${_source}")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH _source BASE_DIRECTORY ${_source_folder} NORMALIZE OUTPUT_VARIABLE _file)
    _reprobe_language(${_file} _language)
    if(NOT _language)
      continue()
    endif()
    cmake_path(RELATIVE_PATH _file BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE _name)
    string(REPLACE "../" "up/" _name "${_name}")
    set(_facts ${_folder}/${_name}.facts)
    cmake_path(GET _facts PARENT_PATH _facts_folder)
    file(MAKE_DIRECTORY ${_facts_folder})
    add_custom_command(
      OUTPUT ${_facts}
      COMMAND ${REPROBE_EXECUTABLE} scan --facts-only -o ${_facts} --depfile ${_facts}.d ${_database} ${_lint_OPTIONS} ${_file}
      DEPENDS ${_file} ${_commands} ${REPROBE_EXECUTABLE}
      DEPFILE ${_facts}.d
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} # names in facts are relative to it: they mean the same on every machine
      COMMENT "Reprobe: facts of ${_name}"
      VERBATIM)
    list(APPEND _all_facts ${_facts})
  endforeach()
  if(NOT _all_facts)
    message(FATAL_ERROR "reprobe_lint(${target}): the target has no C, C++ or CUDA sources")
  endif()

  set(_choice "")
  if(_lint_STAGE)
    list(APPEND _choice --stage ${_lint_STAGE})
  endif()
  if(_lint_RULES)
    list(JOIN _lint_RULES "," _globs)
    list(APPEND _choice --rules ${_globs})
  endif()
  add_custom_command(
    OUTPUT ${_folder}.judged
    BYPRODUCTS ${_folder}.json
    COMMAND ${REPROBE_EXECUTABLE} scan ${_choice} ${_lint_OPTIONS} -o ${_folder}.json --from-facts ${_all_facts}
    COMMAND ${CMAKE_COMMAND} -E touch ${_folder}.judged
    DEPENDS ${_all_facts} ${REPROBE_EXECUTABLE}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMENT "Reprobe: judging ${target}"
    VERBATIM)
  set(_all "")
  if(_lint_ALL)
    set(_all ALL)
  endif()
  add_custom_target(${_lint_NAME} ${_all} DEPENDS ${_folder}.judged)
endfunction()
