#pragma once
// What the Anthropic dialects share: what of a request reaches the model, what forbids caching it, and error bodies.
// Sans-I/O, any thread.
//
// Sources: the parameter types of the official SDKs for versions 2023-06-01 and 2026-10-21 of the API, which differ in
// fields only (the newer has no temperature, top_p and top_k) and in their credential header; the version is in the
// digest. What may not be cached: a `thread` or `container` is state that the server holds; a web search or fetch
// depends on the day; `mcp_servers`, code execution and any tool that we do not know to run at the client let the
// provider act.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::anthropic {

/// What does not differ between the endpoints. Paths count with and without "/v1".
class endpoint : public dialect {
public:
    endpoint(std::string_view name, std::string_view path) noexcept : name_(name), path_(path) {}
    std::string_view name() const noexcept final { return name_; }
    bool matches(std::string_view method, std::string_view path) const noexcept final;
    bool shapes_errors_of(std::string_view path) const noexcept final;
    std::string_view normal_path() const noexcept final { return path_; }
    body_rules rules() const noexcept final;
    std::optional<std::string> without_nonces(std::string_view body) const final;
    std::span<const std::string_view> digest_headers() const noexcept final;
    /// Every stream states its usage unasked.
    std::optional<std::string> ask_usage(std::string_view) const final { return std::nullopt; }
    std::string_view request_id_field() const noexcept final { return "request-id"; }
    std::string error_body(unsigned status, reason why, std::string_view message) const final;
    std::string error_event(reason why, std::string_view message) const final;

private:
    std::string_view name_;
    std::string_view path_;
};

/// See dialect::read. `runs_tools`: whether the call lets the model use its tools.
[[nodiscard]] call read_request(std::string_view body, bool runs_tools);

}  // namespace idem::upstream::dialect::anthropic
