# Compiler and linker settings shared by every target.
add_library(idem_options INTERFACE)
target_compile_options(idem_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fno-omit-frame-pointer
    # Members left out of a designated initialiser keep their defaults; that is what they are for.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-designated-field-initializers>
    -fstack-protector-strong -fPIE $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
target_compile_definitions(idem_options INTERFACE _GLIBCXX_ASSERTIONS IDEM_VERSION="${PROJECT_VERSION}")
target_link_options(idem_options INTERFACE -pie -Wl,-z,relro,-z,now)

find_program(IDEM_MOLD mold)
if(IDEM_MOLD)
    target_link_options(idem_options INTERFACE -fuse-ld=mold)
endif()

find_program(IDEM_CCACHE ccache)
if(IDEM_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${IDEM_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

if(IDEM_SANITIZE)
    # Assertions on, whatever the build type; little optimisation, since these builds are compiled more than they are run.
    target_compile_options(idem_options INTERFACE -fsanitize=${IDEM_SANITIZE} -fno-sanitize-recover=all -O1 -g1 -UNDEBUG)
    target_link_options(idem_options INTERFACE -fsanitize=${IDEM_SANITIZE})
endif()
if(IDEM_FUZZ)
    target_compile_options(idem_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
