// The events of a llama.cpp completion, from its object form.
#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/llamacpp_common.hpp"

namespace idem::upstream::dialect::llamacpp {
namespace {

bool list_or_nothing(std::string_view value) noexcept {
    return value.empty() || kind_of(value) == json_kind::array;
}

// The settings with the form that they were asked for.
std::string with_stream_on(std::string_view settings) {
    const std::string_view stream = find_member(settings, "stream");
    return stream == "false" ? spliced(settings, stream, "true") : std::string(settings);
}

bool append_result(std::string& out, std::string_view result, std::string_view index) {
    const std::string_view content = find_member(result, "content");
    const std::string_view tokens = find_member(result, "tokens");
    const std::string_view scores = find_member(result, "completion_probabilities");
    const std::string_view settings = find_member(result, "generation_settings");
    const std::string_view asked = find_member(settings, "stream");
    if (!unique_keys(result) || kind_of(content) != json_kind::string || find_member(result, "stop") != "true") {
        return false;
    }
    if (!list_or_nothing(tokens) || !list_or_nothing(scores) || !find_member(result, "error").empty()) return false;
    if (!(asked.empty() || asked == "false")) return false;
    // A stream has the ids of its tokens, an object only if they were asked for.
    if (!string_inner(content).empty() && !json_items(tokens).next()) return false;
    const bool scored = !scores.empty() && json_items(scores).next();
    if (scored || !string_inner(content).empty() || json_items(tokens).next()) {
        std::string event = "{";
        add_member(event, "index", index);
        add_member(event, "content", content);
        add_member(event, "tokens", tokens);
        add_member(event, "stop", "false");
        add_member(event, "id_slot", find_member(result, "id_slot"));
        add_member(event, "tokens_predicted", find_member(result, "tokens_predicted"));
        add_member(event, "tokens_evaluated", find_member(result, "tokens_evaluated"));
        if (scored) add_member(event, "completion_probabilities", scores);
        out += "data: " + event + "}\n\n";
    }
    std::string event = "{";
    json_members members(result);
    while (members.next()) {
        const std::string_view key = members.key();
        if (key == "content") {
            add_member(event, key, R"("")");
        } else if (key == "tokens") {
            add_member(event, key, "[]");
        } else if (key == "generation_settings") {
            add_member(event, key, with_stream_on(members.value()));
        } else if (key != "completion_probabilities" || !scored) {
            add_member(event, key, members.value());
        }
    }
    out += "data: " + event + "}\n\n";
    return true;
}

}  // namespace

std::optional<std::string> split(std::string_view object) {
    if (!is_json(object)) return std::nullopt;
    object = trim(object);
    std::string out;
    if (kind_of(object) == json_kind::object) {
        const std::string_view index = find_member(object, "index");
        if (!(index.empty() || index == "0") || !append_result(out, object, index)) return std::nullopt;
        return out;
    }
    json_items results(object);
    std::size_t n = 0;
    while (results.next()) {
        const std::string index = std::to_string(n++);
        if (kind_of(results.value()) != json_kind::object || find_member(results.value(), "index") != index) {
            return std::nullopt;
        }
        if (!append_result(out, results.value(), index)) return std::nullopt;
    }
    if (n < 2) return std::nullopt;  // one result is an object
    return out;
}

}  // namespace idem::upstream::dialect::llamacpp
