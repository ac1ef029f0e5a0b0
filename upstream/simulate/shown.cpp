#include "upstream/simulate/shown.hpp"

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/choices.hpp"
#include "upstream/simulate/render_parts.hpp"

namespace idem::upstream::simulate {
namespace {

using engine::mark_place;
using engine::page_kind;

engine::situation situation_of(const simulate_options& options, std::string_view model, const chance& luck) {
    engine::situation s;
    s.version = engine::version_of(engine::find(options.engine), options.version, luck.environment);
    s.model = model;
    s.environment = luck.environment;
    s.running = luck.running;
    s.process = luck.process;
    s.now = luck.now;
    s.kept = options.prefix_cache;
    return s;
}

std::string mark_text(const simulate_options& options, std::string_view model, unsigned environment) {
    chance luck;
    luck.environment = environment;
    const engine::player& as = engine::find(options.engine);
    const std::string text = '"' + engine::written(as.mark, situation_of(options, model, luck)) + '"';
    return dialect::string_text(text).value_or("");
}

std::string model_item(const simulate_options& options, std::string_view id, const chance& luck) {
    const engine::player& as = engine::find(options.engine);
    std::string out = R"({"id":)" + quoted(id) + R"(,"object":"model","created":1700000000,"owned_by":)";
    out += quoted(as.owner.empty() ? std::string_view(options.engine) : as.owner);
    return out + engine::written(as.model_tail, situation_of(options, id, luck)) + "}";
}

std::string models(const simulate_options& options, const chance& luck) {
    const engine::player& as = engine::find(options.engine);
    return R"({"object":"list","data":[)" + model_item(options, options.model, luck) + "]" +
           engine::written(as.models_tail, situation_of(options, options.model, luck)) + "}";
}

answer starting(const engine::player& as) {
    constexpr std::string_view otherwise = R"({"error":{"message":"The model is loading","type":"server_error"}})";
    return object_answer(std::string(as.starting.empty() ? otherwise : as.starting), 503);
}

}  // namespace

const engine::page* page_of(const simulate_options& options, std::string_view method,
                            std::string_view target) noexcept {
    return engine::page_of(engine::find(options.engine), method, target);
}

std::optional<answer> page_answer(const simulate_options& options, std::string_view method, std::string_view target,
                                  const chance& luck) {
    constexpr std::string_view list = "/v1/models";
    const engine::player& as = engine::find(options.engine);
    const std::string_view path = target.substr(0, target.find('?'));
    const engine::page* page = engine::page_of(as, method, target);
    const bool reading = method == "GET" || method == "HEAD";
    const bool named = reading && path.starts_with("/v1/models/");
    if (!page && !named && (!reading || path != list)) return std::nullopt;
    if (luck.starting) return starting(as);
    if (!page)
        return object_answer(named ? model_item(options, path.substr(list.size() + 1), luck) : models(options, luck));
    answer out = object_answer(engine::written(page->body, situation_of(options, options.model, luck)));
    out.content_type = page->content_type;
    out.model_call = page->kind == page_kind::generating;
    if (out.model_call) out.pieces.front().wait = options.latency + step_of(options);
    return out;
}

std::string mark_of(const simulate_options& options, std::string_view model, unsigned environment) {
    const engine::player& as = engine::find(options.engine);
    return as.place == mark_place::nowhere ? std::string() : quoted(mark_text(options, model, environment));
}

void show_environment(answer_facts& facts, const simulate_options& options, const chance& luck) {
    const engine::player& as = engine::find(options.engine);
    const std::string text = mark_text(options, facts.model, luck.environment);
    if (as.place == mark_place::fingerprint || as.place == mark_place::last_fingerprint) facts.fingerprint = text;
    facts.fingerprint_last = as.place == mark_place::last_fingerprint;
    if (as.place == mark_place::weight_version) facts.weight_version = text;
    if (as.place == mark_place::model) facts.model = text;
}

std::string weight_version(const simulate_options& options, const chance& luck) {
    const bool said = engine::find(options.engine).place == mark_place::weight_version;
    return said ? mark_text(options, options.model, luck.environment) : std::string();
}

}  // namespace idem::upstream::simulate
