// OpenAI embeddings. The two encodings of a vector are the two forms of one answer. Under `/embeddings` without `/v1` a
// llama.cpp server speaks its own API: there a dialect of the same name, with a path of its own in the digest, asks
// which engine it is. A body with `content` instead of `input` is llama.cpp's wherever it goes.
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/openai_encoding.hpp"
#include "upstream/dialect/openai_items.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/openai_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

constexpr std::string_view ignored[] = {"/user", "/metadata", "/cache",
                                        // vLLM and SGLang: scheduling
                                        "/request_id", "/priority", "/rid", "/data_parallel_rank",
                                        // who may share a prefix cache: part of the scope
                                        "/cache_salt", "/extra_key"};

// Here the order of keys reaches the prompt, where vLLM embeds conversations.
constexpr std::string_view order_kept[] = {"/chat_template_kwargs"};

constexpr std::string_view prompt_text[] = {"/input", "/input/*", "/messages/*/content", "/messages/*/content/*/text"};

class embeddings : public openai::endpoint {
public:
    explicit embeddings(std::string_view path) noexcept
        : endpoint("openai.embeddings", path, openai::spelling::exact) {}
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }

    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) model = members.value();
            openai::read_tenant(c, members.key(), members.value());
            read_cache_member(c, members.key(), members.value());
            if (key_is(members.key(), "input")) c.choices = openai::count_inputs(members.value());
        }
        c.greedy = true;  // nothing is sampled
        c.wanted = openai::vector_form(body).value_or(form::json);
        openai::read_model(c, model);
        return c;
    }

    std::unique_ptr<watcher> watch(form, const call& c) const override { return openai::watch_embeddings(c); }
    std::optional<std::string> ask_usage(std::string_view) const override { return std::nullopt; }
    const batching* batches() const noexcept override { return &openai::embedding_inputs(); }
    std::optional<std::string> without_form(std::string_view canonical) const override {
        return openai::without_vector_form(canonical);
    }
    std::optional<std::string> assemble(std::string_view answer) const override {
        return openai::vectors_as_numbers(answer);
    }
    std::optional<std::string> split(std::string_view answer, bool) const override {
        return openai::vectors_as_base64(answer);
    }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        return openai::normalised_embeddings(body);
    }
};

class short_embeddings final : public embeddings {
public:
    short_embeddings() noexcept : embeddings("/embeddings") {}
    bool shares_path() const noexcept override { return true; }
    const dialect& meant(std::string_view engine, std::string_view body) const override {
        const bool theirs = native::member_of(body, "input").empty() && !native::member_of(body, "content").empty();
        return theirs || engine == llamacpp::engine_name ? llamacpp_embedding() : *this;
    }
};

}  // namespace

const dialect& openai_embeddings() noexcept {
    static const embeddings instance("/v1/embeddings");
    return instance;
}

const dialect& openai_short_embeddings() noexcept {
    static const short_embeddings instance;
    return instance;
}

}  // namespace idem::upstream::dialect
