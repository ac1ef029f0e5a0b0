#pragma once
// What the native APIs of local engines share: POST to one of a few paths, no header that counts, errors as llama.cpp,
// SGLang and vLLM write them (OpenAI's shape), and one form unless a dialect says otherwise. Sans-I/O, any thread.
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/read_call.hpp"

namespace idem::upstream::dialect::native {

class endpoint : public dialect {
public:
    /// The first path is the one in the digest; the others are spellings of it.
    endpoint(std::string_view name, std::initializer_list<std::string_view> paths) noexcept;
    std::string_view name() const noexcept final { return name_; }
    bool matches(std::string_view method, std::string_view path) const noexcept final;
    std::string_view normal_path() const noexcept final { return paths_.front(); }
    std::span<const std::string_view> digest_headers() const noexcept final { return {}; }
    std::optional<std::string> ask_usage(std::string_view) const final { return std::nullopt; }
    std::optional<std::string> assemble(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> split(std::string_view, bool) const override { return std::nullopt; }
    std::string error_body(unsigned status, reason why, std::string_view message) const override;
    std::string error_event(reason why, std::string_view message) const override;

private:
    std::string_view name_;
    std::array<std::string_view, 4> paths_{};
};

/// The object form made of a stream.
struct folded {
    std::string object;
    bool lossless = true;  // every member had a sure place
};

/// How an API's two forms become each other.
struct conversion {
    std::optional<folded> (*fold)(std::string_view stream);
    std::optional<std::string> (*split)(std::string_view object);
    std::optional<std::string> (*normalised)(std::string_view object);
};

/// An endpoint with a stream form, beneath a base that says the rest.
template <class Base>
class two_forms : public Base {
public:
    two_forms(std::string_view name, std::string_view path, conversion by) noexcept : Base(name, {path}), by_(by) {}
    std::optional<std::string> assemble(std::string_view stream) const final {
        auto whole = by_.fold(stream);
        if (!whole || !whole->lossless) return std::nullopt;
        return std::move(whole->object);
    }
    std::optional<std::string> split(std::string_view object, bool) const final { return by_.split(object); }
    std::optional<std::string> normalised(form f, std::string_view body) const final {
        if (f == form::json) return by_.normalised(body);
        const auto whole = by_.fold(body);
        return whole ? by_.normalised(whole->object) : std::nullopt;
    }

private:
    conversion by_;
};

/// The name of the model, where a call gives one: most of these servers hold one model and need none.
void read_model(call& c, std::string_view value);
/// What keeps the caller's prefix cache apart, by the name of its member. Several add up.
void read_tenant(call& c, std::string_view name, std::string_view value);
[[nodiscard]] bool truthy(std::string_view value) noexcept;
/// A number above zero.
[[nodiscard]] bool positive(std::string_view value) noexcept;
/// Absent, null, "", [] or {}.
[[nodiscard]] bool nothing(std::string_view value) noexcept;
/// A body's member of that name, however it is spelled; empty if there is none.
[[nodiscard]] std::string_view member_of(std::string_view body, std::string_view name);

}  // namespace idem::upstream::dialect::native
