#pragma once
// The grammar of a complete head (RFC 9112 sections 3 to 5): fills our fields and notes the lines that framing is
// decided by. Written by hand because Beast's parser took more than half of the time of a request from memory; the fuzz
// target request_head compares the two. Pure.
#include <cstdint>
#include <string_view>

#include "upstream/http/message.hpp"

namespace idem::upstream::http {

/// One field line that decides something: how often it came and its last value (a view into the head's fields).
struct noted {
    std::uint32_t count = 0;
    std::string_view value;
};

/// What framing and routing are decided by.
struct head_facts {
    noted host, content_length, transfer_encoding, connection, expect, upgrade;
    bool lookalike = false;  // a name that another parser could take for a framing or credential field
};

struct verdict {
    reason why = reason::none;
    std::string_view detail;  // static
    explicit operator bool() const noexcept { return why != reason::none; }
};

/// `raw` is one complete head, from the first byte of the start line to the empty line, as head_scan found it. The
/// views in `facts` are valid until `head` changes.
[[nodiscard]] verdict parse_head(std::string_view raw, request_head& head, head_facts& facts);
[[nodiscard]] verdict parse_head(std::string_view raw, response_head& head, head_facts& facts);

}  // namespace idem::upstream::http
