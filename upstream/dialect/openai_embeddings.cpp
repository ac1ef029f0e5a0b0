// OpenAI embeddings. There is one form only; the two encodings of a vector are separate entries.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/openai_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

constexpr std::string_view ignored[] = {"/user", "/metadata", "/cache",
                                        // vLLM and SGLang: scheduling
                                        "/request_id", "/priority", "/rid", "/data_parallel_rank"};

class embeddings final : public openai::endpoint {
public:
    embeddings() noexcept : endpoint("openai.embeddings", "/v1/embeddings") {}
    body_rules rules() const noexcept override { return {ignored, {}}; }

    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) model = members.value();
            if (key_is(members.key(), "input")) c.choices = openai::count_inputs(members.value());
        }
        c.greedy = true;  // nothing is sampled
        openai::read_model(c, model);
        return c;
    }

    std::unique_ptr<watcher> watch(form, const call& c) const override { return openai::watch_embeddings(c); }
    std::optional<std::string> ask_usage(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> assemble(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> split(std::string_view, bool) const override { return std::nullopt; }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        return openai::normalised_embeddings(body);
    }
};

}  // namespace

const dialect& openai_embeddings() noexcept {
    static const embeddings instance;
    return instance;
}

}  // namespace idem::upstream::dialect
