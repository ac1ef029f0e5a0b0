#include "upstream/dialect/mistral.hpp"

#include <algorithm>
#include <array>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_split.hpp"

namespace idem::upstream::dialect::mistral {
namespace {

constexpr std::array<std::string_view, 4> own_fields = {"random_seed", "safe_prompt", "prompt_mode", "guardrails"};

// Engines of one's own serve them as `mistralai/…`.
constexpr std::array<std::string_view, 10> model_families = {
    "mistral-", "ministral-", "magistral-",    "codestral-",    "devstral-",
    "pixtral-", "voxtral-",   "open-mistral-", "open-mixtral-", "open-codestral-"};

}  // namespace

bool is_theirs(std::string_view body) {
    json_members members(body);
    while (members.next()) {
        if (members.value() == "null") continue;
        if (std::ranges::find(own_fields, members.key()) != own_fields.end()) return true;
        if (members.key() != "model") continue;
        const std::string_view model = string_inner(members.value());
        if (std::ranges::any_of(model_families, [&](std::string_view f) { return model.starts_with(f); })) return true;
    }
    return false;
}

std::optional<std::string> split_chat(std::string_view object, bool) {
    auto stream = openai::split_chat(object, false);
    const std::string_view usage = find_member(object, "usage");
    if (!stream || kind_of(usage) != json_kind::object) return stream;
    const std::size_t end = stream->rfind("}\n\ndata: [DONE]");
    if (end == std::string::npos) return std::nullopt;
    std::string member = ",";
    append_member(member, "usage", usage);
    return stream->insert(end, member);
}

}  // namespace idem::upstream::dialect::mistral
