#include "cache/redis/script.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "upstream/base/digest.hpp"

namespace idem::cache::redis {

script::script(std::string_view source) : text(source) {
    std::array<std::uint8_t, 20> digest;
    if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
        throw std::runtime_error("SHA-1 is not available");
    }
    sha1 = to_hex(digest);
}

}  // namespace idem::cache::redis
