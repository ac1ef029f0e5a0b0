#include "cache/redis/script.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "upstream/base/digest.hpp"

namespace idem::cache::redis {

std::string put_script_sha1() {
    std::array<std::uint8_t, 20> digest;
    if (EVP_Digest(put_script.data(), put_script.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
        throw std::runtime_error("SHA-1 is not available");
    }
    return to_hex(digest);
}

}  // namespace idem::cache::redis
