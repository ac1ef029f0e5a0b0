#include "upstream/simulate/members.hpp"

#include <algorithm>
#include <iterator>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {

using namespace dialect;

namespace {

// Members that must not change the text: presentation, labels, limits, and what is mixed in by rules of its own.
constexpr std::string_view not_content[] = {"stream",
                                            "stream_options",
                                            "user",
                                            "safety_identifier",
                                            "metadata",
                                            "store",
                                            "prompt_cache_key",
                                            "cache",
                                            "cache_salt",
                                            "n",
                                            "best_of",
                                            "max_tokens",
                                            "logprobs",
                                            "top_logprobs",
                                            "stop",
                                            "seed",
                                            "temperature",
                                            "echo",
                                            "encoding_format",
                                            "dimensions",
                                            "service_tier",
                                            "max_completion_tokens",
                                            "stop_sequences",
                                            "max_output_tokens",
                                            "random_seed",
                                            "labels",
                                            "maxOutputTokens",
                                            "candidateCount",
                                            "stopSequences",
                                            "num_predict",
                                            "n_predict",
                                            "max_new_tokens",
                                            "n_cmpl",
                                            "keep_alive",
                                            "think",
                                            "id_slot",
                                            "cache_prompt",
                                            "return_tokens",
                                            "return_token_ids",
                                            "details",
                                            "do_sample",
                                            "rid",
                                            "sampling_seed"};

}  // namespace

members_of::members_of(std::string_view body, std::string_view nested) {
    json_members members(body);
    while (members.next()) {
        if (nested.empty() || members.key() != nested) {
            list_.emplace_back(members.key(), members.value());
            continue;
        }
        json_members inner(members.value());
        while (inner.next()) list_.emplace_back(inner.key(), inner.value());
    }
}

std::string_view members_of::operator[](std::string_view key) const noexcept {
    for (const auto& [name, value] : list_) {
        if (name == key) return value;
    }
    return {};
}

std::uint64_t members_of::content() const {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : list_) {
        if (value == "null" || std::ranges::find(not_content, key) != std::end(not_content)) continue;
        std::uint64_t name = 0;
        for (const char c : key) name = mix(name ^ static_cast<unsigned char>(c));
        sum += mix(name ^ meaning(value));
    }
    return mix(sum);
}

void read_cache_use(asked& a, const members_of& request) {
    a.cold = request["cache_prompt"] == "false";
    if (const std::string_view salt = request["cache_salt"]; kind_of(salt) == json_kind::string) a.salt = meaning(salt);
}

std::optional<std::uint64_t> count(std::string_view token) {
    const auto value = number_value(token);
    if (!value || *value < 0 || *value > 1e9) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

std::vector<std::string> stops_of(std::string_view value) {
    std::vector<std::string> out;
    if (auto one = string_text(value)) out.push_back(std::move(*one));
    json_items items(value);
    while (items.next()) {
        if (auto text = string_text(items.value())) out.push_back(std::move(*text));
    }
    std::erase(out, "");
    return out;
}

std::string_view last_item(std::string_view array) {
    std::string_view last;
    json_items items(array);
    while (items.next()) last = items.value();
    return last;
}

}  // namespace idem::upstream::simulate
