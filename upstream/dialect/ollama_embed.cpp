// Ollama's embeddings: POST /api/embed, and the older POST /api/embeddings with one `prompt` and one vector. There is
// one form only. Rules, bypasses and errors: ollama_common.
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/native_watch.hpp"
#include "upstream/dialect/ollama_common.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/vectors.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;
using native::findings;

// One vector for each input.
void judge_list(dom::element value, const call& asked, findings& found) {
    dom::object top;
    dom::array vectors;
    if (value.get_object().get(top) != simdjson::SUCCESS ||
        top.at_key("embeddings").get_array().get(vectors) != simdjson::SUCCESS) {
        found.malformed = true;
        return;
    }
    unsigned n = 0;
    for (const dom::element vector : vectors) {
        if (!holds_vector(vector)) found.malformed = true;
        ++n;
    }
    found.empty = n == 0;
    found.unfinished = n != asked.choices;
    found.said.model = text_of(top, "model");
    found.count(count_of(top, "prompt_eval_count"), 0);
}

void judge_one(dom::element value, const call&, findings& found) {
    dom::object top;
    dom::element vector;
    if (value.get_object().get(top) != simdjson::SUCCESS || top.at_key("embedding").get(vector) != simdjson::SUCCESS) {
        found.malformed = true;
    } else {
        found.empty = !holds_vector(vector);
    }
}

class embeddings : public ollama::endpoint {
public:
    embeddings(std::string_view name, std::string_view path, std::string_view input, std::string_view output,
               native::judge by) noexcept
        : endpoint(name, {path}), input_(input), output_(output), by_(by) {}

    call read(std::string_view body) const override {
        call c = ollama::read_request(body, input_, false);
        c.greedy = true;  // nothing is sampled
        c.choices = openai::count_inputs(native::member_of(body, input_));
        return c;
    }
    std::unique_ptr<watcher> watch(form, const call& c) const override { return native::watch_value(c, by_); }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        dom::object top;
        dom::element value;
        if (parse_copied(body).get_object().get(top) != simdjson::SUCCESS || !present(top, output_, value)) {
            return std::nullopt;
        }
        std::string out = "{";
        begin_member(out, output_);
        append_vectors(out, value);
        return out + "}";
    }

private:
    std::string_view input_, output_;
    native::judge by_;
};

}  // namespace

const dialect& ollama_embed() noexcept {
    static const embeddings instance("ollama.embed", "/api/embed", "input", "embeddings", judge_list);
    return instance;
}

const dialect& ollama_embeddings() noexcept {
    static const embeddings instance("ollama.embeddings", "/api/embeddings", "prompt", "embedding", judge_one);
    return instance;
}

}  // namespace idem::upstream::dialect
