// SGLang's own API, POST /generate: `text` or `input_ids` with `sampling_params`. Sources: GenerateReqInput and the
// handler of /generate in SGLang's http_server. TGI serves that path too; its body has `inputs`, which this API does
// not know, so the body decides (meant). A stream is `data:` events and ends with [DONE]; errors are OpenAI's, in a
// stream as an event. Two forms: sglang_convert.
#include <algorithm>

#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/native_results.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sglang_convert.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;
using native::findings;

constexpr std::size_t max_results = 65536;

// None of these reaches the model.
constexpr std::string_view ignored[] = {
    // presentation, and LiteLLM's cache control
    "/stream", "/cache",
    // scheduling and transport
    "/rid", "/session_id", "/priority", "/bootstrap_host", "/bootstrap_port", "/bootstrap_room", "/routed_dp_rank",
    "/data_parallel_rank", "/disagg_prefill_dp_rank",
    // who may share a prefix cache: part of the scope
    "/cache_salt", "/extra_key"};

// Here the order of keys reaches a processor of the caller's own.
constexpr std::string_view order_kept[] = {"/sampling_params/custom_params"};

constexpr std::string_view prompt_text[] = {"/text", "/text/*"};

struct sampling {
    bool greedy = false, seeded = false, limit_set = false;
    unsigned n = 1;
};

sampling read_sampling(std::string_view params) {
    sampling s;
    json_members members(params);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
        if (is("temperature")) {
            s.greedy = number_value(value) == 0.0;
        } else if (is("sampling_seed")) {
            s.seeded = number_value(value).has_value();
        } else if (is("max_new_tokens")) {
            s.limit_set = native::positive(value);
        } else if (is("n")) {
            const double n = number_value(value).value_or(1);
            if (n >= 1 && n <= max_results) s.n = static_cast<unsigned>(n);
        }
    }
    return s;
}

// One object for all prompts, or one for each.
sampling read_all_sampling(std::string_view params) {
    if (kind_of(params) != json_kind::array) return read_sampling(params);
    json_items items(params);
    sampling all;
    for (bool first = true; items.next(); first = false) {
        const sampling s = read_sampling(items.value());
        all.greedy = (first || all.greedy) && s.greedy;
        all.seeded = (first || all.seeded) && s.seeded;
        all.limit_set = (first || all.limit_set) && s.limit_set;
        all.n = s.n;
    }
    return all;
}

void take_result(dom::object result, std::size_t position, native::result_list& results, findings& found) {
    dom::object meta;
    dom::object finish;
    const auto index = results.place(result, position, found);
    if (!index) return;
    if (!object_of(result, "meta_info", meta)) {
        found.malformed = true;
        return;
    }
    if (!object_of(meta, "finish_reason", finish)) return;
    results.finish(*index);
    const std::string_view why = text_of(finish, "type");
    if (why == "length") found.said.length_limited = true;
    if (why == "abort" || why == "error") found.error = true;
    found.count(count_of(meta, "prompt_tokens"), count_of(meta, "completion_tokens"));
}

class stream final : public native::event_watcher {
public:
    explicit stream(unsigned expected) : results_(expected) {}

private:
    void take(const sse_event& event) override {
        if (event.data == "[DONE]") {
            found.terminal = true;
        } else if (found.terminal) {
            found.malformed = true;
        } else if (const auto result = native::result_of(event, found)) {
            take_result(*result, 0, results_, found);
        }
    }
    void settle() override { results_.settle(found); }

    native::result_list results_;
};

void judge(dom::element value, const call& asked, findings& found) {
    native::result_list results(asked.choices);
    native::each_result(value, found,
                        [&](dom::object result, std::size_t at) { take_result(result, at, results, found); });
    results.settle(found);
}

class generate final : public native::two_forms<native::endpoint> {
public:
    generate() noexcept
        : two_forms("sglang.generate", "/generate", {sglang::fold, sglang::split, sglang::normalised}) {}
    bool shares_path() const noexcept override { return true; }
    const dialect& meant(std::string_view, std::string_view body) const override {
        return native::member_of(body, "inputs").empty() ? static_cast<const dialect&>(*this) : tgi_generate();
    }
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }

    call read(std::string_view body) const override {
        call c;
        sampling s;
        unsigned prompts = 0;
        json_members members(body);
        while (members.next()) {
            const std::string_view value = members.value();
            const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
            if (value == "null" || openai::read_tenant(c, members.key(), value)) continue;
            read_cache_member(c, members.key(), value);
            if (is("text") || is("input_ids") || is("input_embeds")) {
                prompts = is("input_embeds") ? 1 : openai::count_inputs(value);
            } else if (is("stream")) {
                read_stream(c, value, form::sse);
            } else if (is("sampling_params")) {
                s = read_all_sampling(value);
            } else if (is("model")) {
                native::read_model(c, value);
            } else if (is("session_params")) {  // continues a session that the server holds
                bypass(c, reason::stateful_call);
            } else if (is("return_hidden_states") || is("return_routed_experts")) {  // megabytes for each token
                if (value != "false") bypass(c, reason::entry_too_large);
            }
        }
        if (prompts == 0) bypass(c, reason::not_cacheable_path);  // some other server's /generate
        c.greedy = s.greedy;
        c.seeded = s.seeded;
        c.limit_set = s.limit_set;
        c.choices = s.n;
        openai::multiply_choices(c, std::max(prompts, 1U));
        return c;
    }

    std::unique_ptr<watcher> watch(form f, const call& c) const override {
        if (f == form::sse) return std::make_unique<stream>(c.choices);
        return native::watch_value(c, judge);
    }
};

}  // namespace

const dialect& sglang_generate() noexcept {
    static const generate instance;
    return instance;
}

}  // namespace idem::upstream::dialect
