// Gemini's plain calls: countTokens, embedContent and batchEmbedContents. Each answers with one small object and has no
// other form; nothing is sampled. A count of a prompt that the server holds (cachedContent) is bypassed.
#include "upstream/dialect/gemini_common.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/object_only.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/vectors.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

void judge_count(dom::object answer, const call&, verdict& v) {
    dom::element value;
    std::uint64_t count = 0;
    if (present(answer, "error", value)) {
        v.refuse = reason::error_in_answer;
    } else if (!present(answer, "totalTokens", value)) {
        v.refuse = reason::no_choices;
    } else if (value.get_uint64().get(count) != simdjson::SUCCESS) {
        v.refuse = reason::answer_malformed;
    }
}

bool holds_values(dom::element element) {
    dom::object embedding;
    dom::element values;
    return element.get_object().get(embedding) == simdjson::SUCCESS && present(embedding, "values", values) &&
           values.is_array() && holds_vector(values);
}

// One `embedding`, or as many `embeddings` as were asked for.
void judge_vectors(dom::object answer, const call& c, verdict& v) {
    dom::element value;
    dom::array list;
    unsigned vectors = 0;
    if (present(answer, "error", value)) {
        v.refuse = reason::error_in_answer;
    } else if (present(answer, "embedding", value)) {
        v.refuse = holds_values(value) ? reason::none : reason::answer_malformed;
    } else if (answer.at_key("embeddings").get_array().get(list) == simdjson::SUCCESS) {
        for (const dom::element each : list) {
            if (!holds_values(each)) v.refuse = reason::answer_malformed;
            ++vectors;
        }
        if (vectors == 0) v.refuse = reason::no_choices;
        if (v.refuse == reason::none && vectors != c.choices) v.refuse = reason::choice_unfinished;
    } else {
        v.refuse = reason::no_choices;
    }
}

class plain : public gemini::endpoint {
public:
    using endpoint::endpoint;
    body_rules rules() const noexcept override { return {{}, gemini::order_kept(), gemini::prompt_text()}; }

    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // nothing is sampled
        json_members members(body);
        while (members.next()) {
            gemini::read_state(c, members.key(), members.value());
            if (gemini::names(members.key(), "generateContentRequest")) {
                json_members inner(members.value());
                while (inner.next()) gemini::read_state(c, inner.key(), inner.value());
            } else if (gemini::names(members.key(), "requests")) {
                unsigned n = 0;
                json_items items(members.value());
                while (items.next()) ++n;
                c.choices = n;
            }
        }
        return c;
    }

    std::optional<std::string> normalised(form, std::string_view body) const override {
        dom::object answer;
        if (parse_copied(body).get_object().get(answer) != simdjson::SUCCESS) return std::nullopt;
        std::string out = "{";
        for (const std::string_view key : {"totalTokens", "embedding", "embeddings"}) copy(out, answer, key, {key});
        return out + "}";
    }
};

constexpr std::string_view counting[] = {"countTokens"};
constexpr std::string_view embedding[] = {"embedContent"};
constexpr std::string_view embedding_many[] = {"batchEmbedContents"};

}  // namespace

const dialect& gemini_count_tokens() noexcept {
    static const object_only<plain> instance(judge_count, "gemini.count_tokens", "/v1beta/models/{model}:countTokens",
                                             counting);
    return instance;
}

const dialect& gemini_embed() noexcept {
    static const object_only<plain> instance(judge_vectors, "gemini.embed", "/v1beta/models/{model}:embedContent",
                                             embedding);
    return instance;
}

const dialect& gemini_batch_embed() noexcept {
    static const object_only<plain> instance(judge_vectors, "gemini.batch_embed",
                                             "/v1beta/models/{model}:batchEmbedContents", embedding_many);
    return instance;
}

}  // namespace idem::upstream::dialect
