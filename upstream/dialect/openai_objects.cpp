// OpenAI's plain objects: moderations and images, each one object without another form. Images are kept as base64 only:
// a URL points at what the provider holds for an hour. A stream of images is passed through (form_unsupported).
//
// Calls in multipart form (/v1/images/edits, /v1/images/variations, /v1/audio/transcriptions, /v1/audio/translations)
// have no dialect: they stream through as they are (not_cacheable_path).
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/object_only.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view moderation_ignored[] = {"/user", "/metadata", "/cache"};
constexpr std::string_view image_ignored[] = {"/user", "/safety_identifier", "/metadata", "/cache"};
constexpr std::string_view moderation_text[] = {"/input", "/input/*", "/input/*/text"};
constexpr std::string_view image_text[] = {"/prompt"};

// The items of `list`, each of which must be an object; false if there is no such list.
template <class Take>
bool each_item(dom::object answer, std::string_view list, verdict& v, Take take) {
    dom::array items;
    if (answer.at_key(list).get_array().get(items) != simdjson::SUCCESS) return false;
    for (const dom::element element : items) {
        dom::object item;
        if (element.get_object().get(item) != simdjson::SUCCESS) {
            v.refuse = reason::answer_malformed;
        } else {
            take(item);
        }
    }
    return items.begin() != items.end();
}

void judge_moderation(dom::object answer, const call& c, verdict& v) {
    dom::element value;
    unsigned results = 0;
    v.model = text_of(answer, "model");
    if (present(answer, "error", value)) {
        v.refuse = reason::error_in_answer;
    } else if (!each_item(answer, "results", v, [&](dom::object) { ++results; })) {
        v.refuse = reason::no_choices;
    } else if (v.refuse == reason::none && results != c.choices) {
        v.refuse = reason::choice_unfinished;
    }
}

void judge_images(dom::object answer, const call& c, verdict& v) {
    dom::element value;
    dom::object counts;
    unsigned images = 0;
    bool elsewhere = false;
    const auto take = [&](dom::object image) {
        ++images;
        if (!text_of(image, "b64_json").empty()) return;
        elsewhere = true;
        if (text_of(image, "url").empty()) v.refuse = reason::answer_malformed;
    };
    if (object_of(answer, "usage", counts)) {
        v.tokens = usage{count_of(counts, "input_tokens"), count_of(counts, "output_tokens")};
    }
    if (present(answer, "error", value)) {
        v.refuse = reason::error_in_answer;
    } else if (!each_item(answer, "data", v, take)) {
        v.refuse = reason::no_choices;
    } else if (v.refuse == reason::none && elsewhere) {
        v.refuse = reason::stateful_call;
    } else if (v.refuse == reason::none && images != c.choices) {
        v.refuse = reason::choice_unfinished;
    }
}

std::optional<std::string> list_of(std::string_view body, std::string_view list,
                                   std::initializer_list<std::string_view> told) {
    dom::object answer;
    verdict v;
    if (parse_copied(body).get_object().get(answer) != simdjson::SUCCESS) return std::nullopt;
    std::string out = "[";
    each_item(answer, list, v, [&](dom::object item) {
        if (out.size() > 1) out += ',';
        out += '{';
        for (const std::string_view key : told) copy(out, item, key, {key});
        out += '}';
    });
    return v.refuse == reason::none ? std::optional(out + "]") : std::nullopt;
}

// Parts of different kinds are one input.
unsigned count_moderated(std::string_view input) {
    unsigned n = 0;
    json_items items(input);
    while (items.next()) {
        if (kind_of(items.value()) != json_kind::string) return 1;
        ++n;
    }
    return n == 0 ? 1 : n;
}

class moderations : public openai::endpoint {
public:
    moderations() noexcept : endpoint("openai.moderations", "/v1/moderations") {}
    body_rules rules() const noexcept override { return {moderation_ignored, {}, moderation_text}; }
    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // nothing is sampled
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) model = members.value();
            if (key_is(members.key(), "input")) c.choices = count_moderated(members.value());
            read_cache_member(c, members.key(), members.value());
        }
        openai::read_model(c, model);
        return c;
    }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        return list_of(body, "results", {"flagged", "categories", "category_scores", "category_applied_input_types"});
    }
};

class images : public openai::endpoint {
public:
    images() noexcept : endpoint("openai.images", "/v1/images/generations") {}
    body_rules rules() const noexcept override { return {image_ignored, {}, image_text}; }
    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
            const std::string_view value = members.value();
            read_cache_member(c, members.key(), value);
            if (is("model")) {
                model = value;
            } else if (is("n") || is("seed")) {
                openai::read_shared_member(c, members.key(), value);
            } else if (is("stream") && value == "true") {
                c.bypass = reason::form_unsupported;
            } else if (is("response_format") && string_text(value) == "url") {
                c.bypass = reason::stateful_call;
            }
        }
        openai::read_model(c, model);
        return c;
    }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        return list_of(body, "data", {"b64_json", "revised_prompt"});
    }
};

}  // namespace

const dialect& openai_moderations() noexcept {
    static const object_only<moderations> instance(judge_moderation);
    return instance;
}

const dialect& openai_images() noexcept {
    static const object_only<images> instance(judge_images);
    return instance;
}

}  // namespace idem::upstream::dialect
