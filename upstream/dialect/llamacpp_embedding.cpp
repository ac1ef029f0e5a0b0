// llama.cpp's embeddings: POST /embedding, and /embeddings where the engine is llama.cpp or the body has `content` (see
// llamacpp_common). A list with one vector, or one for each token, for each input. There is one form only; errors are
// OpenAI's.
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/native_watch.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/vectors.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view ignored[] = {"/cache", "/user"};
constexpr std::string_view prompt_text[] = {"/input",   "/input/*",   "/input/*/*",
                                            "/content", "/content/*", "/content/*/*"};

void judge(dom::element value, const call& asked, native::findings& found) {
    dom::array items;
    if (value.get_array().get(items) != simdjson::SUCCESS) {
        found.malformed = true;
        return;
    }
    unsigned n = 0;
    for (const dom::element item : items) {
        dom::object object;
        dom::element vector;
        if (item.get_object().get(object) != simdjson::SUCCESS ||
            object.at_key("embedding").get(vector) != simdjson::SUCCESS || !holds_vector(vector)) {
            found.malformed = true;
        }
        ++n;
    }
    found.empty = n == 0;
    found.unfinished = n != asked.choices;
}

class embedding final : public native::endpoint {
public:
    embedding() noexcept : endpoint("llamacpp.embedding", {"/embedding"}) {}
    bool minds_content_type() const noexcept override { return false; }
    body_rules rules() const noexcept override { return {ignored, {}, prompt_text}; }
    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // nothing is sampled
        native::read_model(c, native::member_of(body, "model"));
        std::string_view input = native::member_of(body, "input");
        if (input.empty()) input = native::member_of(body, "content");
        c.choices = openai::count_inputs(input);
        read_cache_member(c, "cache", native::member_of(body, "cache"));
        return c;
    }
    std::unique_ptr<watcher> watch(form, const call& c) const override { return native::watch_value(c, judge); }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        dom::array items;
        if (parse_copied(body).get_array().get(items) != simdjson::SUCCESS) return std::nullopt;
        std::string out = "[";
        for (const dom::element item : items) {
            dom::object object;
            dom::element vector;
            if (item.get_object().get(object) != simdjson::SUCCESS || !present(object, "embedding", vector)) {
                return std::nullopt;
            }
            if (out.size() > 1) out += ',';
            append_vectors(out, vector);
        }
        return out + "]";
    }
};

}  // namespace

const dialect& llamacpp_embedding() noexcept {
    static const embedding instance;
    return instance;
}

}  // namespace idem::upstream::dialect
