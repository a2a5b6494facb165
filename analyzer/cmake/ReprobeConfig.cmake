# find_package(Reprobe): gives reprobe_lint(target), and reprobe::observe for reprobe/observe.h.
include(${CMAKE_CURRENT_LIST_DIR}/ReprobeLint.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ReprobeTargets.cmake OPTIONAL)
