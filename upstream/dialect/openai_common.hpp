#pragma once
// What the OpenAI dialects share: reading the request, asking for usage, error bodies. Sans-I/O, any thread.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::openai {

/// Clients' base URLs differ in "/v1".
enum class spelling : std::uint8_t {
    either,  // with and without it the endpoint is the same
    exact,   // it is not: llama.cpp serves an API of its own under the short path
};

/// What does not differ between the endpoints.
class endpoint : public dialect {
public:
    endpoint(std::string_view name, std::string_view path, spelling spelled = spelling::either) noexcept
        : name_(name), path_(path), spelled_(spelled) {}
    std::string_view name() const noexcept final { return name_; }
    bool matches(std::string_view method, std::string_view path) const noexcept final;
    std::string_view normal_path() const noexcept final { return path_; }
    std::span<const std::string_view> digest_headers() const noexcept final;
    std::string error_body(unsigned status, reason why, std::string_view message) const final;
    std::string error_event(reason why, std::string_view message) const override;

private:
    std::string_view name_;
    std::string_view path_;
    spelling spelled_;
};

/// vLLM's `cache_salt` and SGLang's `extra_key` keep callers' prefix caches apart: they belong to the scope, and not to
/// the digest. True if it was one of them.
bool read_tenant(call& c, std::string_view key, std::string_view value);
/// Reads one member of a request that chat completions and completions share into `c`; other members change nothing.
void read_shared_member(call& c, std::string_view key, std::string_view value);
/// `value` is the `model` member, or empty if there is none.
void read_model(call& c, std::string_view value);
/// `value` is a list of tools. Those that the client runs change nothing; what the provider runs, and what is not
/// known, forbids caching: it depends on the day, on what the provider holds, or acts.
void read_tools(call& c, std::string_view value);
/// How many prompts or inputs a value stands for: a string and a list of token ids are one, any other list as many as
/// it has items.
[[nodiscard]] unsigned count_inputs(std::string_view value) noexcept;
/// Multiplies `choices` by `n` prompts, saturating.
void multiply_choices(call& c, unsigned n) noexcept;

/// See dialect::ask_usage.
[[nodiscard]] std::optional<std::string> ask_usage(std::string_view body);

/// {"error":{"message","type","param","code"}}: the four members the official SDKs read.
[[nodiscard]] std::string error_body(unsigned status, reason why, std::string_view message);

}  // namespace idem::upstream::dialect::openai
