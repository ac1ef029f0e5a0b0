// Gemini generateContent and streamGenerateContent: one dialect, and one entry, for both methods.
//
// With `alt=sse` a stream is events, each a part of the answer; without it the server sends one JSON array bit by bit,
// which has no event to end a broken stream with: that form is passed through (form_unsupported). There is no terminal
// marker: a stream is whole once every candidate has a finish reason. Bypassed: what the server holds (cachedContent,
// store, continuationToken, file search) and tools that Google runs. Errors: google.rpc.Status, as an event too.
#include <limits>

#include "upstream/dialect/gemini_common.hpp"
#include "upstream/dialect/gemini_convert.hpp"
#include "upstream/dialect/gemini_watch.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

constexpr std::string_view methods[] = {"generateContent", "streamGenerateContent"};

// It never reaches the model.
constexpr std::string_view ignored[] = {"/labels"};

void read_generation(call& c, std::string_view settings) {
    json_members members(settings);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return gemini::names(key, name); };
        if (value == "null") continue;
        if (is("temperature")) {
            c.greedy = number_value(value) == 0.0;
        } else if (is("seed")) {
            c.seeded = true;
        } else if (is("maxOutputTokens")) {
            c.limit_set = true;
        } else if (is("candidateCount")) {
            const double n = number_value(value).value_or(1);
            if (n >= 1 && n <= std::numeric_limits<unsigned>::max()) c.choices = static_cast<unsigned>(n);
        }
    }
}

class generate final : public gemini::endpoint {
public:
    generate() noexcept : endpoint("gemini.generate", "/v1beta/models/{model}:generateContent", methods) {}
    body_rules rules() const noexcept override { return {ignored, gemini::order_kept(), gemini::prompt_text()}; }

    call read(std::string_view body) const override {
        call c;
        json_members members(body);
        while (members.next()) {
            gemini::read_state(c, members.key(), members.value());
            if (gemini::names(members.key(), "tools")) gemini::read_tools(c, members.value());
            if (gemini::names(members.key(), "generationConfig")) read_generation(c, members.value());
        }
        return c;
    }

    void read_target(call& c, std::string_view path, std::string_view query) const override {
        if (gemini::method_of(path) == methods[1]) {
            if (gemini::alternative(query) == "sse") {
                c.wanted = form::sse;
            } else if (!c.bypass) {
                c.bypass = reason::form_unsupported;
            }
        }
        endpoint::read_target(c, path, query);
    }

    std::unique_ptr<watcher> watch(form f, const call& c) const override { return gemini::watch_answer(f, c.choices); }
    std::optional<std::string> ask_usage(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> assemble(std::string_view stream) const override {
        auto whole = gemini::fold_answer(stream);
        if (!whole || !whole->lossless) return std::nullopt;
        return std::move(whole->object);
    }
    std::optional<std::string> split(std::string_view object, bool) const override {
        return gemini::split_answer(object);
    }
    std::optional<std::string> normalised(form f, std::string_view body) const override {
        if (f != form::sse) return gemini::normalised_answer(body);
        const auto whole = gemini::fold_answer(body);
        return whole ? gemini::normalised_answer(whole->object) : std::nullopt;
    }
};

}  // namespace

const dialect& gemini_generate() noexcept {
    static const generate instance;
    return instance;
}

}  // namespace idem::upstream::dialect
