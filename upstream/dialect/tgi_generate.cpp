// TGI's own API (text-generation-inference, router/src/server.rs): POST /generate, /generate_stream and `/`, each with
// `inputs` and `parameters`. SGLang serves /generate too: there the body decides, see sglang_generate.
//
// A stream is one event for each token; the last has `generated_text`, and that is the terminal marker. It cannot be
// made of the object, which has no tokens unless asked and never the stream's `input_length`; so /generate and
// /generate_stream do not share entries. `/` serves both forms by its `stream` member (the object as a list of one): a
// stored stream answers the object, not the reverse. Why an answer ended is said only if `details` are asked; else it
// counts as ended by the limit, and is stored if the request set one. Errors are `{"error","error_type"}`, in a stream
// as an event.
#include <algorithm>
#include <optional>
#include <utility>

#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/native_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;
using native::findings;

// On the other two paths the form is the path's own.
constexpr std::string_view ignored[] = {"/cache", "/stream"};

constexpr std::string_view prompt_text[] = {"/inputs"};

// Here the order of keys reaches the output grammar.
constexpr std::string_view order_kept[] = {"/parameters/grammar"};

void read_parameters(call& c, std::string_view parameters) {
    bool sampled = false;
    json_members members(parameters);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
        if (value == "null") continue;
        if (is("do_sample")) {
            sampled = sampled || value != "false";
        } else if (is("temperature") || is("top_k") || is("top_p") || is("typical_p")) {
            sampled = true;
        } else if (is("best_of")) {
            sampled = sampled || number_value(value).value_or(1) > 1;
        } else if (is("seed")) {
            c.seeded = true;
        } else if (is("max_new_tokens")) {
            c.limit_set = native::positive(value);
        }
    }
    c.greedy = !sampled;
}

// What the last event and the object say alike.
void take_end(findings& found, dom::object answer) {
    dom::object details;
    std::string_view why = "length";
    if (object_of(answer, "details", details)) {
        why = text_of(details, "finish_reason");
        found.unfinished = why.empty();
        found.count(count_of(details, "input_length"), count_of(details, "generated_tokens"));
    }
    found.said.length_limited = why == "length";
}

class stream final : public native::event_watcher {
    void take(const sse_event& event) override {
        dom::object data;
        dom::object token;
        dom::element value;
        std::string_view text;
        if (parse_unambiguous(event.data).get_object().get(data) != simdjson::SUCCESS) {
            found.malformed = true;
        } else if (native::reports_error(data)) {
            found.error = true;
        } else if (found.terminal || !object_of(data, "token", token)) {
            found.malformed = true;
        } else if (!follows(data)) {
            found.malformed = true;  // a token is missing
        } else if (present(data, "generated_text", value)) {
            found.malformed = value.get_string().get(text) != simdjson::SUCCESS;
            found.terminal = true;
            take_end(found, data);
        }
    }
    void settle() override {}

    // Tokens are numbered, by all but the oldest servers.
    bool follows(dom::object data) {
        std::uint64_t index = 0;
        if (data.at_key("index").get_uint64().get(index) != simdjson::SUCCESS) return true;
        const auto wanted = std::exchange(next_, index + 1);
        return !wanted || index == *wanted;
    }

    std::optional<std::uint64_t> next_;
};

void judge(dom::element value, const call&, findings& found) {
    dom::object answer;
    dom::array list;
    std::string_view text;
    if (value.get_array().get(list) == simdjson::SUCCESS) {
        found.empty = list.begin() == list.end();
        if (found.empty) return;
        value = *list.begin();
        found.malformed = list.size() != 1;
    }
    if (value.get_object().get(answer) == simdjson::SUCCESS && native::reports_error(answer)) {
        found.error = true;
    } else if (value.get_object().get(answer) != simdjson::SUCCESS ||
               answer.at_key("generated_text").get_string().get(text) != simdjson::SUCCESS) {
        found.malformed = true;
    } else {
        take_end(found, answer);
    }
}

// The object's details, from those of the last event and the tokens of all. Empty where something has no place.
std::string details_of(std::string_view last, const std::string& tokens, const std::string& tops) {
    std::string out = "{";
    json_members members(last);
    while (members.next()) {
        const std::string_view key = members.key();
        if (key == "input_length") continue;  // only streams say it
        if (key != "finish_reason" && key != "generated_tokens" && key != "seed") return {};
        add_member(out, key, members.value());
    }
    add_member(out, "prefill", "[]");
    add_member(out, "tokens", "[" + tokens + "]");
    if (!tops.empty()) add_member(out, "top_tokens", "[" + tops + "]");
    return out + "}";
}

std::optional<std::string> object_of_stream(std::string_view stream) {
    std::string tokens, tops, text, details;
    bool lossy = false;
    const bool whole = native::each_event(stream, [&](const sse_event& event) {
        if (!text.empty() || event.type == "error" || parse_padded(event.data).error() != simdjson::SUCCESS) {
            return false;
        }
        const std::string_view data = trim(event.data);
        const std::string_view token = find_member(data, "token");
        const std::string_view top = find_member(data, "top_tokens");
        if (kind_of(token) != json_kind::object || !find_member(data, "error").empty()) return false;
        json_members members(data);
        while (members.next()) {
            static constexpr std::string_view known[] = {"index", "token", "top_tokens", "generated_text", "details"};
            lossy = lossy || std::ranges::find(known, members.key()) == std::end(known);
        }
        if (!tokens.empty()) tokens += ',';
        tokens += token;
        if (kind_of(top) == json_kind::array && json_items(top).next()) {
            if (!tops.empty()) tops += ',';
            tops += top;
        }
        const std::string_view generated = find_member(data, "generated_text");
        if (kind_of(generated) != json_kind::string) return generated.empty() || generated == "null";
        text = generated;
        details = find_member(data, "details");
        return true;
    });
    if (!whole || text.empty() || lossy) return std::nullopt;
    std::string out = "{";
    add_member(out, "generated_text", text);
    if (kind_of(details) == json_kind::object) {
        const std::string made = details_of(details, tokens, tops);
        if (made.empty()) return std::nullopt;
        add_member(out, "details", made);
    }
    return out + "}";
}

std::optional<std::string> compared(dom::object answer) {
    dom::object details;
    std::string_view text;
    if (answer.at_key("generated_text").get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    std::string out = R"({"generated_text":)";
    append_json_string(out, text);
    if (object_of(answer, "details", details)) copy(out, details, "finish_reason", {"finish_reason"});
    return out + "}";
}

// Of the last event: it has what the object has.
std::optional<std::string> compared_stream(std::string_view stream) {
    std::optional<std::string> out;
    const bool whole = native::each_event(stream, [&](const sse_event& event) {
        dom::object data;
        dom::element value;
        if (parse_padded(event.data).get_object().get(data) != simdjson::SUCCESS) return false;
        if (present(data, "error", value)) return false;
        if (present(data, "generated_text", value)) out = compared(data);
        return true;
    });
    return whole ? out : std::nullopt;
}

enum class forms : std::uint8_t { object, stream, both };

class generate : public native::endpoint {
public:
    generate(std::string_view name, std::string_view path, forms has) noexcept : endpoint(name, {path}), has_(has) {}
    body_rules rules() const noexcept override {
        return {std::span(ignored).first(has_ == forms::both ? 2 : 1), order_kept, prompt_text};
    }

    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // unless a parameter asks for sampling
        if (has_ == forms::stream) c.wanted = form::sse;
        if (native::nothing(native::member_of(body, "inputs"))) {
            bypass(c, reason::not_cacheable_path);  // some other server's path
        }
        json_members members(body);
        while (members.next()) {
            const std::string_view value = members.value();
            read_cache_member(c, members.key(), value);
            if (key_is(members.key(), "parameters")) read_parameters(c, value);
            if (key_is(members.key(), "model")) native::read_model(c, value);
            if (has_ == forms::both && key_is(members.key(), "stream")) read_stream(c, value, form::sse);
        }
        return c;
    }

    std::unique_ptr<watcher> watch(form f, const call& c) const override {
        if (f == form::sse) return std::make_unique<stream>();
        return native::watch_value(c, judge);
    }
    std::optional<std::string> assemble(std::string_view body) const override {
        if (has_ != forms::both) return std::nullopt;
        auto object = object_of_stream(body);
        if (object) object = "[" + *object + "]";
        return object;
    }
    std::optional<std::string> normalised(form f, std::string_view body) const override {
        if (f == form::sse) return compared_stream(body);
        dom::element value;
        dom::object answer;
        dom::array list;
        if (parse_copied(body).get(value) != simdjson::SUCCESS) return std::nullopt;
        if (value.get_array().get(list) == simdjson::SUCCESS) {
            if (list.size() != 1) return std::nullopt;
            value = *list.begin();
        }
        if (value.get_object().get(answer) != simdjson::SUCCESS) return std::nullopt;
        return compared(answer);
    }
    std::string error_body(unsigned status, reason why, std::string_view message) const override {
        std::string out = R"({"error":)";
        append_json_string(out, message);
        out += R"(,"error_type":)";
        append_json_string(out, status == 429 || status == 503 ? "overloaded"
                                : status < 500                 ? "validation"
                                                               : "generation");
        out += R"(,"code":)";
        append_json_string(out, to_string(why));
        return out + "}";
    }
    std::string error_event(reason why, std::string_view message) const override {
        return "data: " + error_body(500, why, message) + "\n\n";
    }

private:
    forms has_;
};

}  // namespace

const dialect& tgi_generate() noexcept {
    static const generate instance("tgi.generate", "/generate", forms::object);
    return instance;
}

const dialect& tgi_generate_stream() noexcept {
    static const generate instance("tgi.generate_stream", "/generate_stream", forms::stream);
    return instance;
}

const dialect& tgi_root() noexcept {
    static const generate instance("tgi.root", "/", forms::both);
    return instance;
}

}  // namespace idem::upstream::dialect
