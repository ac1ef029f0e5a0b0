#include "upstream/simulate/gemini.hpp"

#include <algorithm>

#include "upstream/dialect/gemini_common.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/choices.hpp"
#include "upstream/simulate/influence.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/shown.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

answer error_answer(unsigned status, std::string_view message) {
    std::string body = R"({"error":{"code":)" + std::to_string(status) + R"(,"message":)";
    append_json_string(body, message);
    body.append(R"(,"status":")").append(gemini::status_word(status)).append("\"}}");
    return object_answer(std::move(body), status);
}

}  // namespace

bool is_gemini_call(std::string_view method, std::string_view path) noexcept {
    const std::string_view what = gemini::method_of(path);
    return method == "POST" && (what == "generateContent" || what == "streamGenerateContent" || what == "countTokens" ||
                                what == "embedContent" || what == "batchEmbedContents");
}

answer gemini_answer(const simulate_options& options, std::string_view target, std::string_view body,
                     const chance& luck) {
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
    const std::string_view what = gemini::method_of(path);
    const std::string_view resource = path.substr(0, path.rfind(':'));
    if (luck.starting) return error_answer(503, "The model is loading");
    if (luck.error < options.error_rate) return error_answer(500, "simulated failure");
    if (!is_json(body) || kind_of(trim(body)) != json_kind::object) {
        return error_answer(400, "the body is not a JSON object");
    }
    asked a = read_gemini_request(body, resource.substr(resource.rfind('/') + 1));
    if (const unsigned status = status_asked(a.model)) return error_answer(status, "the model's name asked for this");
    if (a.bad) return error_answer(400, "contents are required");
    influence(a, options, luck, true);
    if (what == "countTokens") return object_answer(gemini_count(a), 200, options.latency);
    if (what == "embedContent" || what == "batchEmbedContents") {
        return object_answer(gemini_embeddings(a, what == "batchEmbedContents"), 200, options.latency);
    }
    a.inputs.resize(1);
    const std::vector<choice_text> choices = write_choices(options, a, luck);
    answer_facts facts{hex_id("", luck.id), luck.now, a.model};
    show_environment(facts, options, luck);
    if (what == "generateContent") {
        const auto tokens = static_cast<std::int64_t>(choices.front().tokens.size());
        answer out = object_answer(gemini_object(a, facts, choices), 200, options.latency + step_of(options) * tokens);
        out.model = a.model;
        return out;
    }
    const bool events = gemini::alternative(query) == "sse";
    answer out;
    if (events) out.content_type = "text/event-stream";
    out.stream = true;
    out.model = a.model;
    out.pieces = gemini_stream(a, facts, choices, events, options.latency, step_of(options));
    return out;
}

}  // namespace idem::upstream::simulate
