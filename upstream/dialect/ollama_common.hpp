#pragma once
// What the dialects of Ollama's native API share. Sources: Ollama's API documentation, and the request and response
// types of its api package (2026-08). Sans-I/O, any thread.
//
// Where a body is silent about `stream` the answer is a stream of newline-delimited JSON; its last line says
// `"done":true`, and without that line it is cut. Durations and `created_at` are not content. What can be loaded,
// unloaded or rendered without asking a model (an empty prompt, no messages, no input) is no call to be cached.
// Errors are `{"error":"text"}`, in a stream as a line of their own.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/native_common.hpp"

namespace idem::upstream::dialect::ollama {

class endpoint : public native::endpoint {
public:
    using native::endpoint::endpoint;
    bool shapes_errors_of(std::string_view path) const noexcept final { return path.starts_with("/api/"); }
    bool minds_content_type() const noexcept final { return false; }
    body_rules rules() const noexcept final;
    std::string error_body(unsigned status, reason why, std::string_view message) const final;
    std::string error_event(reason why, std::string_view message) const final;
};

/// Reads what chat, generate and the embeddings have in common. `input` names the member without which a call only
/// loads or unloads a model; `streams` says whether the call has a stream form.
[[nodiscard]] call read_request(std::string_view body, std::string_view input, bool streams);

}  // namespace idem::upstream::dialect::ollama
