#include "upstream/simulate/choices.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;
using nanoseconds = std::chrono::nanoseconds;

// Cuts the text at the first stop string; tokens before it stay whole.
void apply_stop(choice_text& c, const std::vector<std::string>& stops) {
    std::string text;
    for (const std::string& token : c.tokens) text += token;
    std::size_t cut = std::string::npos;
    for (const std::string& stop : stops) {
        const std::size_t at = text.find(stop);
        if (at >= cut) continue;
        cut = at;
        c.stop = stop;
    }
    if (cut == std::string::npos) return;
    std::size_t size = 0;
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
        if (size + c.tokens[i].size() >= cut) {
            c.tokens[i].resize(cut - size);
            c.tokens.resize(c.tokens[i].empty() ? i : i + 1);
            break;
        }
        size += c.tokens[i].size();
    }
    c.finish = "stop";
}

// None of them is in the vocabulary: a text that strays differs from the one that did not.
constexpr std::string_view turns[] = {"otherwise", "instead", "rather", "however"};

void stray(choice_text& c, std::size_t from, std::uint64_t state) {
    const auto other = words(state, c.tokens.size());
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(from), other.end(),
              c.tokens.begin() + static_cast<std::ptrdiff_t>(from));
    c.tokens[from] = (from > 0 ? " " : "") + std::string(turns[state % std::size(turns)]);
}

// The first token that a hazard of `p` each hits; none if it is past the last.
std::size_t hit_token(double p, std::uint64_t seed, std::size_t tokens) {
    std::size_t i = 0;
    while (i < tokens && static_cast<double>(mix(mix(seed) + i) >> 11U) * 0x1p-53 >= p) ++i;
    return i;
}

choice_text write_choice(const simulate_options& options, const asked& a, std::uint64_t state, const chance& luck) {
    choice_text c;
    c.state = state;
    std::vector<deviation> strays = a.strays;
    const std::size_t hit = hit_token(options.token_hazard, luck.seed, options.tokens);
    // Within what is shown of the answer: a flip that nobody can see is none.
    const std::uint64_t shown = std::min<std::uint64_t>(options.tokens, a.limit.value_or(options.tokens));
    if (luck.flip < options.flip_hazard)
        strays.push_back({mix(luck.seed) % std::max<std::uint64_t>(1, shown), luck.seed});
    if (hit < options.tokens) strays.push_back({hit, mix(luck.seed + 1)});
    std::uint64_t strayed = state;
    for (const deviation& each : strays) strayed = mix(strayed ^ each.state);
    if (!a.tool_name.empty()) {
        c.tool_call = true;
        c.finish = "tool_calls";
        c.tool_name = a.tool_name;
        c.tokens = slices(json_for_schema(a.tool_schema, strayed));
        return c;
    }
    if (!a.schema.empty()) {
        c.tokens = slices(json_for_schema(a.schema, strayed));
    } else {
        c.tokens = words(state, options.tokens);
        for (const deviation& each : strays) {
            state = mix(state ^ each.state);
            if (each.from < c.tokens.size()) stray(c, each.from, state);
        }
    }
    if (a.limit && *a.limit < c.tokens.size()) {
        c.tokens.resize(*a.limit);
        c.finish = "length";
    }
    apply_stop(c, a.stop);
    return c;
}

}  // namespace

answer object_answer(std::string body, unsigned status, nanoseconds wait) {
    answer out;
    out.status = status;
    out.pieces.push_back({wait, std::move(body)});
    return out;
}

// Always of one length, so that two answers of one request are.
std::string hex_id(std::string_view prefix, std::uint64_t id) {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out(prefix);
    for (std::uint64_t rest = mix(id), i = 0; i < 16; ++i, rest >>= 4U) out += hex[rest & 15U];
    return out;
}

std::vector<choice_text> write_choices(const simulate_options& options, const asked& a, const chance& luck) {
    std::vector<choice_text> out;
    const bool many = a.inputs.size() > 1;
    std::uint64_t base = a.state;
    if (a.sampled && !a.seeded) base = mix(base ^ luck.seed);
    for (std::size_t p = 0; p < a.inputs.size(); ++p) {
        for (unsigned k = 0; k < a.n; ++k) {
            std::uint64_t state = base;
            if (many) state = mix(state ^ meaning(a.inputs[p]) ^ p);
            if (a.sampled && k > 0) state = mix(state + k);
            choice_text c = write_choice(options, a, state, luck);
            if (a.echo) c.tokens.insert(c.tokens.begin(), string_text(a.inputs[p]).value_or(""));
            out.push_back(std::move(c));
        }
    }
    return out;
}

nanoseconds step_of(const simulate_options& options) {
    if (options.tokens_per_second <= 0) return {};
    return nanoseconds(static_cast<std::int64_t>(1e9 / options.tokens_per_second));
}

unsigned status_asked(std::string_view model) {
    constexpr std::string_view prefix = "error-";
    unsigned status = 0;
    if (model.starts_with(prefix)) std::from_chars(model.data() + prefix.size(), model.data() + model.size(), status);
    return status >= 400 && status <= 599 ? status : 0;
}

}  // namespace idem::upstream::simulate
