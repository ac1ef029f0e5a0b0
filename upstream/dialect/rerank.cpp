// Reranking, as llama.cpp, vLLM and others speak it after Jina: POST /rerank, /v1/rerank and llama.cpp's /reranking.
// One query and a list of documents in, a list of indices with scores out. Engines agree on the path and on the meaning
// of what they share; whatever a body says counts. There is one form only; errors are OpenAI's.
#include <algorithm>
#include <vector>

#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/native_watch.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view ignored[] = {"/user", "/cache",
                                        // vLLM and SGLang: scheduling, and who may share a prefix cache
                                        "/request_id", "/priority", "/rid", "/cache_salt", "/extra_key"};

constexpr std::string_view prompt_text[] = {"/query", "/documents/*", "/documents/*/text"};

// `results` of an object; SGLang and text-embeddings-inference answer with the list alone.
bool results_of(dom::element value, dom::array& out) {
    dom::object top;
    if (value.get_array().get(out) == simdjson::SUCCESS) return true;
    return value.get_object().get(top) == simdjson::SUCCESS &&
           top.at_key("results").get_array().get(out) == simdjson::SUCCESS;
}

bool score_of(dom::object result, double& out) {
    for (const std::string_view key : {"relevance_score", "score"}) {
        if (result.at_key(key).get_double().get(out) == simdjson::SUCCESS) return true;
    }
    return false;
}

void judge(dom::element value, const call&, native::findings& found) {
    dom::array results;
    if (!results_of(value, results)) {
        found.malformed = true;
        return;
    }
    found.empty = results.begin() == results.end();
    std::vector<std::uint64_t> documents;
    for (const dom::element item : results) {
        dom::object result;
        std::uint64_t index = 0;
        double score = 0;
        if (item.get_object().get(result) != simdjson::SUCCESS ||
            result.at_key("index").get_uint64().get(index) != simdjson::SUCCESS || !score_of(result, score)) {
            found.malformed = true;
            return;
        }
        documents.push_back(index);
    }
    std::ranges::sort(documents);
    found.malformed = std::ranges::adjacent_find(documents) != documents.end();
    dom::object top;
    dom::object counts;
    if (value.get_object().get(top) != simdjson::SUCCESS) return;
    found.said.model = text_of(top, "model");
    if (object_of(top, "usage", counts)) found.count(count_of(counts, "total_tokens"), 0);
}

class rerank final : public native::endpoint {
public:
    rerank() noexcept : endpoint("rerank", {"/rerank", "/v1/rerank", "/reranking", "/v1/reranking"}) {}
    body_rules rules() const noexcept override { return {ignored, {}, prompt_text}; }
    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // nothing is sampled
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) native::read_model(c, members.value());
            openai::read_tenant(c, members.key(), members.value());
            read_cache_member(c, members.key(), members.value());
        }
        return c;
    }
    std::unique_ptr<watcher> watch(form, const call& c) const override { return native::watch_value(c, judge); }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        dom::element value;
        dom::array results;
        if (parse_copied(body).get(value) != simdjson::SUCCESS || !results_of(value, results)) return std::nullopt;
        std::string out = "[";
        for (const dom::element item : results) {
            dom::object result;
            if (item.get_object().get(result) != simdjson::SUCCESS) return std::nullopt;
            out += out.size() > 1 ? ",{" : "{";
            copy(out, result, "index", {"index"});
            copy(out, result, "score", {"relevance_score", "score"});
            out += '}';
        }
        return out + "]";
    }
};

}  // namespace

const dialect& rerank_documents() noexcept {
    static const rerank instance;
    return instance;
}

}  // namespace idem::upstream::dialect
