#include "upstream/engine/effect.hpp"

#include <string>

#include "upstream/base/hex.hpp"
#include "upstream/engine/words.hpp"

namespace idem::upstream::engine {

namespace {

// Text in, tokens or text out: no model runs (vLLM entrypoints/serve/tokenize, SGLang http_server.py, llama.cpp
// tools/server/README.md, TGI's OpenAPI document).
constexpr std::string_view tokenisers =
    "/tokenize|/detokenize|/apply-template|/v1/tokenize|/v1/detokenize|/chat_tokenize|/tokenizer_info";

std::string plain(std::string_view path) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        char c = path[i];
        if (c == '%' && i + 2 < path.size() && hex_value(path[i + 1]) >= 0 && hex_value(path[i + 2]) >= 0) {
            c = static_cast<char>(hex_value(path[i + 1]) * 16 + hex_value(path[i + 2]));
            i += 2;
        }
        if (c != '/' || !out.ends_with('/')) out += c;
    }
    if (out.size() > 1 && out.ends_with('/')) out.pop_back();
    return out;
}

bool safe(std::string_view method) noexcept {  // RFC 9110 section 9.2.1
    return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

effect effect_of(const profile& engine, std::string_view method, std::string_view path) {
    if (!safe(method)) return method == "POST" && lists(tokenisers, path) ? effect::none : effect::changes;
    if (engine.controls.empty() && engine.computing_reads.empty()) return effect::none;
    const std::string meant = plain(path);
    if (lists(engine.controls, meant)) return effect::changes;
    return lists(engine.computing_reads, meant) ? effect::computes : effect::none;
}

}  // namespace idem::upstream::engine
