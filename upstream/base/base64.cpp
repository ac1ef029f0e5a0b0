#include "upstream/base/base64.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>

namespace idem {
namespace {

constexpr std::size_t longest = std::size_t{64} << 20;
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto letters = [] {
    std::array<bool, 256> known{};
    for (const char c : alphabet) known[static_cast<unsigned char>(c)] = true;
    return known;
}();

}  // namespace

std::string base64_of(std::string_view bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::optional<std::string> base64_bytes(std::string_view text) {
    if (text.size() % 4 != 0 || text.size() > longest) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    // OpenSSL skips white space at the ends and takes padding anywhere.
    for (const char c : text.substr(0, text.size() - padding)) {
        if (!letters[static_cast<unsigned char>(c)]) return std::nullopt;
    }
    std::string bytes(text.size() / 4 * 3, '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    return bytes;
}

}  // namespace idem
