# mirenc_index(TARGET) and mirenc_diff(TARGET): an index of a target's functions, and what changed in them.
#
#   find_package(Mirenc)      # cmake -DMirenc_DIR="$(mirenc cmake-dir)"
#   mirenc_index(zlib)        # cmake --build build --target zlib_index   writes zlib.npz
#   mirenc_diff(zlib BASELINE ${CMAKE_SOURCE_DIR}/baseline/zlib.ir)       # ... --target zlib_diff
#
# The target is compiled by `mirenc cc`, which runs its compiler unchanged and keeps the LLVM IR beside each object.
# Needs CMake 3.18, and Ninja or Makefiles of one configuration: others have no launchers of compilers.

# This file, run as a script: copies the IR of the objects in a list into a folder, which it makes anew. With BASELINE, a
# folder of the same kind, it refuses instead what that has and this has not, though its object is there.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS "${OBJECTS}" objects)
  if(NOT BASELINE)
    file(REMOVE_RECURSE "${FOLDER}")
  endif()
  set(without "")
  foreach(object IN LISTS objects)
    file(RELATIVE_PATH name "${BASE}" "${object}")
    string(REGEX REPLACE "^(\\.\\./)+|\\.(o|obj)$" "" name "${name}")
    if(NOT EXISTS "${object}.bc" AND (NOT BASELINE OR EXISTS "${BASELINE}/${name}.bc"))
      list(APPEND without "${name}")
    elseif(NOT BASELINE)
      configure_file("${object}.bc" "${FOLDER}/${name}.bc" COPYONLY)
    endif()
  endforeach()
  list(JOIN without ", " without)
  if(NOT EXISTS "${FOLDER}")
    message(FATAL_ERROR "no object of ${TARGET} has IR beside it: it was compiled before mirenc_index, no clang is on "
                        "PATH, or MIRENC_IR is set. Build once with --clean-first, and read what mirenc cc warns of")
  elseif(without AND BASELINE)
    message(FATAL_ERROR "${without}: no IR could be made, and ${BASELINE} has some: all functions in it would count as "
                        "vanished. Build with --clean-first, and mend what mirenc cc warns of, or delete that IR")
  elseif(without)
    message(NOTICE "mirenc: without IR, and left out: ${without}")
  endif()
  return()
endif()

find_program(MIRENC_EXECUTABLE mirenc DOC "The command mirenc")
if(NOT MIRENC_EXECUTABLE)
  set(Mirenc_FOUND FALSE)
  set(Mirenc_NOT_FOUND_MESSAGE "mirenc is not on PATH. Activate its environment, or give -DMIRENC_EXECUTABLE=PATH")
  return()
endif()

# Compiles a target by `mirenc cc`, and makes a target TARGET_ir that gathers its IR in the folder TARGET.ir.
#
# TARGET_${verb} is what the caller will make. Sets there `target`, which is no ALIAS, `ir`, the folder from the current
# binary folder, and `gather`, the options that run this file as a script.
function(_mirenc_ir target verb)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config OR NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "mirenc: ${CMAKE_GENERATOR} runs no launcher of one configuration. Use -G Ninja")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "mirenc: there is no target ${target}. Name one that is added before this call")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "mirenc: ${target} compiles nothing (${type}). Name a program or library of this build")
  endif()
  get_target_property(place ${target} MIRENC_PLACE) # of an earlier call, perhaps in another folder
  if(TARGET ${target}_${verb} OR (TARGET ${target}_ir AND NOT place))
    message(FATAL_ERROR "mirenc: there is a target ${target}_${verb} or ${target}_ir already. Call mirenc_${verb} once "
                        "for ${target}, and give no target of your own such a name")
  elseif(NOT place)
    set(place "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  get_target_property(folder ${target} BINARY_DIR)
  file(RELATIVE_PATH ir "${CMAKE_CURRENT_BINARY_DIR}" "${place}/${target}.ir")
  set(gather "-DTARGET=${target}" "-DOBJECTS=${place}/${target}.objects" "-DFOLDER=${place}/${target}.ir"
             "-DBASE=${folder}/CMakeFiles/${target}.dir" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  set(target ${target} PARENT_SCOPE)
  set(ir "${ir}" PARENT_SCOPE)
  set(gather "${gather}" PARENT_SCOPE)
  if(TARGET ${target}_ir)
    return()
  endif()
  set_property(TARGET ${target} PROPERTY MIRENC_PLACE "${place}")
  foreach(language C CXX)
    get_target_property(launcher ${target} ${language}_COMPILER_LAUNCHER)
    set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER "${MIRENC_EXECUTABLE}" cc)
    if(launcher) # ccache, for one: `mirenc cc` starts it
      set_property(TARGET ${target} APPEND PROPERTY ${language}_COMPILER_LAUNCHER "${launcher}")
    endif()
  endforeach()
  file(GENERATE OUTPUT "${place}/${target}.objects" CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n")
  add_custom_target(${target}_ir COMMAND "${CMAKE_COMMAND}" ${gather} COMMENT "IR of ${target}" VERBATIM)
  add_dependencies(${target}_ir ${target})
endfunction()

# mirenc_index(TARGET [OUTPUT file] [OPTIONS option...]): TARGET_index writes an index of the target's functions.
#
# OUTPUT is TARGET.npz in the current binary folder, unless it is given; OPTIONS are more options of `mirenc embed`.
function(mirenc_index target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "OUTPUT" "OPTIONS")
  _mirenc_check("${ARG_UNPARSED_ARGUMENTS}")
  _mirenc_ir(${target} index)
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}.npz")
  endif()
  add_custom_target(${target}_index
    COMMAND "${MIRENC_EXECUTABLE}" embed "${ir}" --level function -o "${ARG_OUTPUT}" ${ARG_OPTIONS}
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" COMMENT "Index of ${target}" USES_TERMINAL VERBATIM)
  add_dependencies(${target}_index ${target}_ir)
endfunction()

# mirenc_diff(TARGET BASELINE build [OUTPUT file...] [OPTIONS option...]): TARGET_diff reports what changed.
#
# The baseline is whatever `mirenc diff` takes, such as a copy of TARGET.ir, an archive with bitcode, or a
# compile_commands.json. OUTPUT is TARGET.html in the current binary folder, unless it is given.
function(mirenc_diff target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "BASELINE" "OUTPUT;OPTIONS")
  _mirenc_check("${ARG_UNPARSED_ARGUMENTS}")
  if(NOT ARG_BASELINE)
    message(FATAL_ERROR "mirenc_diff(${target}): it has no BASELINE. Give another build, such as a copy of ${target}.ir")
  endif()
  _mirenc_ir(${target} diff)
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}.html")
  endif()
  list(TRANSFORM ARG_OUTPUT PREPEND "--output=")
  get_filename_component(baseline "${ARG_BASELINE}" ABSOLUTE)
  add_custom_target(${target}_diff
    COMMAND "${CMAKE_COMMAND}" "-DBASELINE=${baseline}" ${gather}
    COMMAND "${MIRENC_EXECUTABLE}" diff "${baseline}" "${ir}" ${ARG_OUTPUT} ${ARG_OPTIONS}
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" COMMENT "Changes of ${target}" USES_TERMINAL VERBATIM)
  add_dependencies(${target}_diff ${target}_ir)
endfunction()

function(_mirenc_check unknown)
  if(unknown)
    message(FATAL_ERROR "mirenc: unknown arguments: ${unknown}. Allowed: OUTPUT, OPTIONS, and of mirenc_diff BASELINE")
  endif()
endfunction()
