#include "gateway/eval/forms.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "cache/request/enforce.hpp"
#include "upstream/determinism/compare/tokens.hpp"
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

// The text or the token ids that a call ends with; null where there is none.
json::value* end_of_prompt(json::object& body) {
    if (json::value* messages = body.if_contains("messages"); messages && messages->is_array()) {
        json::array& all = messages->get_array();
        json::object* last = all.empty() ? nullptr : all.back().if_object();
        json::value* content = last ? last->if_contains("content") : nullptr;
        return content && content->is_string() ? content : nullptr;
    }
    for (const std::string_view name : {"prompt", "text", "input_ids"})
        if (json::value* v = body.if_contains(name)) return v->is_string() || v->is_array() ? v : nullptr;
    return nullptr;
}

// The first `tokens` of it, but for the last at least, and then something else.
void end_otherwise(json::value& prompt_end, std::size_t tokens) {
    if (prompt_end.is_array()) {
        json::array& ids = prompt_end.get_array();
        const json::array all = ids;
        ids.resize(std::min(tokens, all.empty() ? 0 : all.size() - 1));
        for (std::size_t i = 0; i < 8 && i < all.size(); ++i) ids.push_back(all[i]);
        return;
    }
    const std::string text(prompt_end.get_string());
    std::size_t words = 0, end = 0, last = 0;  // bytes: the end of what is kept, and of all words but the last
    for (const std::string_view piece : upstream::determinism::pieces_of(text)) {
        const auto at = static_cast<std::size_t>(piece.data() - text.data());
        if (piece.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
        if (words < tokens) end = at + piece.size();
        if (words++ > 0) last = at;
    }
    prompt_end = text.substr(0, std::min(end, last)) + " 7: say only yes.";
}

// It need not answer at length.
void answer_briefly(json::object& body) {
    for (const std::string_view name : {"max_tokens", "max_completion_tokens", "n_predict", "max_new_tokens"})
        if (json::value* v = body.if_contains(name)) *v = 1;
    if (json::value* v = body.if_contains("sampling_params"); v && v->is_object()) answer_briefly(v->get_object());
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

bool forms::shares(const prompt& p) const {
    boost::system::error_code ec;
    json::value body = json::parse(p.body, ec);
    return starts_cold(p) && !ec && body.is_object() && end_of_prompt(body.get_object());
}

shared_beginning forms::sharing(const prompt& p, std::size_t tokens) {
    prompt other = p;
    boost::system::error_code ec;
    json::value body = json::parse(p.body, ec);
    if (json::value* end = ec || !body.is_object() ? nullptr : end_of_prompt(body.get_object())) {
        end_otherwise(*end, tokens);
        answer_briefly(body.get_object());
        other.body = json::serialize(body);
    }
    const std::string_view place = form_of(p)->salt;
    if (place.empty()) return {greedy(other, false), greedy(p, true)};
    const std::string salt = "\"" + to_hex(random_id().bytes) + "\"";
    return {set(greedy(other, true), place, salt), set(greedy(p, true), place, salt)};
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
