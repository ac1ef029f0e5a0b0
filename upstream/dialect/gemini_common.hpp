#pragma once
// What Gemini's calls share (Google's API reference, `models` resource): paths that end in model and method, names in
// two spellings, errors as google.rpc.Status. Sans-I/O, any thread.
//
// The path is `/VERSION/models/MODEL:METHOD`, or longer on Vertex AI; all of it before the method enters the digest, so
// the versions of the API are kept apart. A `key` in the query is a credential: in no digest and no log.
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::gemini {

class endpoint : public dialect {
public:
    /// `path` is how the call is written in lists; calls of any of `methods` are this one.
    endpoint(std::string_view name, std::string_view path, std::span<const std::string_view> methods) noexcept
        : name_(name), path_(path), methods_(methods) {}
    std::string_view name() const noexcept final { return name_; }
    bool matches(std::string_view method, std::string_view path) const noexcept final;
    bool shapes_errors_of(std::string_view path) const noexcept final;
    std::string_view normal_path() const noexcept final { return path_; }
    std::string_view digest_path(std::string_view path) const noexcept final;
    std::optional<std::string> with_model(std::string_view path, std::string_view model) const override;
    std::span<const std::string_view> form_parameters() const noexcept override;
    void read_target(call& c, std::string_view path, std::string_view query) const override;
    std::span<const std::string_view> digest_headers() const noexcept final { return {}; }
    std::string error_body(unsigned status, reason why, std::string_view message) const final;
    std::string error_event(reason why, std::string_view message) const final;

private:
    std::string_view name_;
    std::string_view path_;
    std::span<const std::string_view> methods_;
};

/// The word for a status, as google.rpc.Code has it.
[[nodiscard]] std::string_view status_word(unsigned status) noexcept;
/// What stands behind the last colon of a path; empty if there is none.
[[nodiscard]] std::string_view method_of(std::string_view path) noexcept;
/// What a query asks the answer to be written as: the value of `alt`, empty if there is none, "*" if there are several.
[[nodiscard]] std::string_view alternative(std::string_view query);
/// Whether a member's key means `name`, written as in JSON (`systemInstruction`) or as in the protocol
/// (`system_instruction`): servers take both.
[[nodiscard]] bool names(std::string_view key, std::string_view name);
/// Reads a list of tools: what the provider runs, and what is not known, forbids caching.
void read_tools(call& c, std::string_view value);
/// Members that refer to what the server holds.
void read_state(call& c, std::string_view key, std::string_view value);

/// Here the order of keys reaches the prompt or the output grammar.
[[nodiscard]] std::span<const std::string_view> order_kept() noexcept;
/// What somebody wrote for the model to read.
[[nodiscard]] std::span<const std::string_view> prompt_text() noexcept;

}  // namespace idem::upstream::dialect::gemini
