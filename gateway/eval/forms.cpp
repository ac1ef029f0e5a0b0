#include "gateway/eval/forms.hpp"

#include <boost/json.hpp>

#include "cache/request/enforce.hpp"
#include "upstream/determinism/golden.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;

namespace {

std::string set(std::string_view body, std::string_view pointer, std::string_view value) {
    return cache::with_member(body, pointer, value, false, false);
}

std::string_view dialect_of(const prompt& p) {
    const auto* api = upstream::dialect::find("POST", p.path);
    return api ? api->name() : std::string_view{};
}

}  // namespace

forms::forms(const upstream::engine::profile& engine, std::string model)
    : engine_(engine), model_(std::move(model)), strict_(engine) {}

const upstream::engine::request_form* forms::form_of(const prompt& p) const {
    return engine_.form_of(dialect_of(p));
}

bool forms::starts_cold(const prompt& p) const {
    return strict_.has(p.path);
}

bool forms::repeats_samples(const prompt& p) const {
    const auto* form = form_of(p);
    return engine_.seeds && form && !form->seed.empty();
}

bool forms::streams(const prompt& p) const {
    const auto name = dialect_of(p);
    return name == "openai.chat" || name == "openai.completions" || name == "anthropic.messages";
}

std::string forms::as_stream(std::string_view body) {
    return set(body, "/stream", "true");
}

std::string forms::greedy(const prompt& p, bool warm) {
    const upstream::determinism::golden_prompt asked{p.id, p.path, upstream::determinism::with_model(p.body, model_)};
    if (!warm || !starts_cold(p)) return strict_.of(asked);
    std::string body = strict_.warm(asked);
    for (const auto& rule : form_of(p)->rules)
        if (rule.at == "/cache_prompt") return set(body, rule.at, "true");
    return body;
}

std::string forms::anywhere(const prompt& p) {
    std::string body = greedy(p, false);
    if (!starts_cold(p)) return body;
    for (const auto& rule : form_of(p)->rules)
        if (rule.at == "/id_slot") return set(body, rule.at, "-1");
    return body;
}

std::string forms::sampled(const prompt& p, std::string_view temperature, std::uint64_t seed) {
    std::string body = upstream::determinism::with_model(p.body, model_);
    const auto* form = form_of(p);
    std::string_view place = form ? form->seed : std::string_view{};
    if (place.empty() && dialect_of(p).starts_with("openai.")) place = "/seed";
    const std::string beside(place.substr(0, place.rfind('/') == std::string_view::npos ? 0 : place.rfind('/')));
    body = set(body, beside + "/temperature", temperature);
    if (!place.empty()) body = set(body, place, std::to_string(seed));
    if (!form) return body;
    for (const auto& rule : form->rules)
        if (rule.at == "/cache_prompt") body = set(body, rule.at, "false");
    if (!form->salt.empty()) body = set(body, form->salt, "\"" + to_hex(random_id().bytes) + "\"");
    return body;
}

neighbour forms::other(std::span<const prompt> prompts, const prompt& beside, std::uint64_t number) {
    if (dialect_of(beside).starts_with("openai.")) return chat(number);
    // Of another API only its own prompts are known: one of them, sampled.
    std::vector<const prompt*> same;
    for (const prompt& p : prompts)
        if (p.path == beside.path) same.push_back(&p);
    const prompt& asked = *same[number % same.size()];
    return {asked.path, number % 2 == 0 ? sampled(asked, "0.9", number + 1) : anywhere(asked), 0};
}

neighbour forms::chat(std::uint64_t number) const {
    constexpr unsigned lengths[] = {1, 7, 19, 33, 64, 128};
    constexpr std::string_view subjects[] = {"a lighthouse", "bread",  "钢琴", "the number nine",
                                             "rain",         "一封信", "sheep"};
    std::string text = "Neighbour " + std::to_string(number) + ": say something about " +
                       std::string(subjects[number % std::size(subjects)]) + ".";
    // Now and then a long one, whose prefill is cut into chunks beside the target.
    if (number % 5 == 4)
        for (unsigned i = 0; i < 300; ++i) text += " Line " + std::to_string(i) + " of a text that nobody needs.";
    json::object body{{"messages", json::array{json::object{{"role", "user"}, {"content", text}}}},
                      {"max_tokens", lengths[number % std::size(lengths)]},
                      {"temperature", number % 2 == 0 ? 0.9 : 0.0},
                      {"seed", number}};
    if (!model_.empty()) body["model"] = model_;
    neighbour n{"/v1/chat/completions", {}, 0};
    if (number % 3 == 2) {
        body["stream"] = true;
        n.stop_after = 200;
    }
    n.body = json::serialize(body);
    return n;
}

}  // namespace idem::gateway::eval
