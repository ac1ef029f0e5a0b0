# All dependencies come from Debian packages (see deploy/setup).
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)

# Packages that ship pkg-config files only.
foreach(pair IN ITEMS "hiredis::hiredis;hiredis" "zstd::zstd;libzstd" "xxHash::xxhash;libxxhash")
    list(GET pair 0 name)
    list(GET pair 1 module)
    string(MAKE_C_IDENTIFIER ${module} variable)
    pkg_check_modules(${variable} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    add_library(${name} ALIAS PkgConfig::${variable})
endforeach()
find_library(IDEM_UTF8PROC utf8proc REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# Asio and Beast are compiled once, in upstream/net/asio.cpp.
add_library(idem_asio INTERFACE)
target_link_libraries(idem_asio INTERFACE Boost::headers Threads::Threads OpenSSL::SSL OpenSSL::Crypto)
target_compile_definitions(idem_asio INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16)
