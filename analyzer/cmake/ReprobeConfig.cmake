# find_package(Reprobe): gives reprobe_lint(target).
include(${CMAKE_CURRENT_LIST_DIR}/ReprobeLint.cmake)
