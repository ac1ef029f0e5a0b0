#pragma once
// The callers a listener knows. A text file holds one client a line: a name and the SHA-256 of each of its keys in hex,
// several while keys are rotated; `#` begins a comment. The file holds no key, so reading it lets nobody in. Immutable
// once loaded; any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/base/digest.hpp"
#include "upstream/http/fields.hpp"

namespace idem::cache {

class client_table {
public:
    struct fault {
        std::size_t line = 0;  // from 1
        std::string message;
    };
    struct loaded;

    /// Every error of the text at once; with errors the table must not be used.
    [[nodiscard]] static loaded load(std::string_view text);

    /// Name of the client whose key this is. The key is hashed first and the digest compared in full, so that the time
    /// taken says nothing about how near a guess came.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
    /// Name of the caller of a request: every credential that it presents and that is known must be of one client.
    [[nodiscard]] std::optional<std::string_view> authenticate(const upstream::http::fields& headers,
                                                               std::string_view query) const;
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

private:
    struct key {
        digest hash;
        std::uint32_t name;
    };
    std::vector<std::string> names_;
    std::vector<key> keys_;  // sorted by hash
};

struct client_table::loaded {
    client_table table;
    std::vector<fault> faults;
};

}  // namespace idem::cache
