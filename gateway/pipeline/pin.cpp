#include "gateway/pipeline/pin.hpp"

#include <simdjson.h>

#include <cstring>

#include "upstream/dialect/json_parse.hpp"

namespace idem::gateway::pipeline {

namespace dom = simdjson::dom;

namespace {

// Where APIs put what the model reads, in the order in which it reads it.
constexpr std::string_view read_first[] = {"system", "systemInstruction", "instructions"};
constexpr std::string_view read_then[] = {"messages", "contents", "input", "prompt", "inputs", "text", "input_ids"};

void append_member(std::string& out, dom::object body, std::string_view name) {
    dom::element value;
    if (out.size() < pinned_prefix && upstream::dialect::present(body, name, value)) out += simdjson::minify(value);
}

}  // namespace

digest pin_of(config::upstream_pool::pinning by, const digest& request, std::string_view dialect,
              std::string_view model, std::string_view canonical) {
    using pinning = config::upstream_pool::pinning;
    if (by == pinning::request) return request;
    if (by == pinning::none) {
        digest any;
        const id128 a = random_id(), b = random_id();
        std::memcpy(any.bytes.data(), a.bytes.data(), a.bytes.size());
        std::memcpy(any.bytes.data() + a.bytes.size(), b.bytes.data(), b.bytes.size());
        return any;
    }
    dom::object body;
    if (upstream::dialect::parse_copied(canonical).get_object().get(body) != simdjson::SUCCESS) return request;
    std::string begin;
    for (const std::string_view name : read_first) append_member(begin, body, name);
    for (const std::string_view name : read_then) append_member(begin, body, name);
    if (begin.empty()) return request;
    hasher h;
    h.part('d', dialect);
    h.part('m', model);
    h.part('p', std::string_view(begin).substr(0, pinned_prefix));
    return h.finish();
}

}  // namespace idem::gateway::pipeline
