#include "upstream/simulate/render_parts.hpp"

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {

std::string quoted(std::string_view text) {
    std::string out;
    dialect::append_json_string(out, text);
    return out;
}

std::string joined(const std::vector<std::string>& tokens) {
    std::string text;
    for (const std::string& token : tokens) text += token;
    return text;
}

std::vector<std::string> thoughts(const asked& a, const choice_text& c) {
    return a.thinks ? words(mix(c.state ^ 1), 8) : std::vector<std::string>{};
}

}  // namespace idem::upstream::simulate
