#include "gateway/observe/exposition.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace idem::gateway::observe {

void exposition::open(std::string_view name, std::string_view help, std::string_view type) {
    if (open_ == name) return;
    open_ = name;
    if (open_metrics_ && type == "counter" && name.ends_with("_total")) name.remove_suffix(6);
    out_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    out_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void exposition::begin(std::string_view name, std::string_view labels) {
    out_ += name;
    if (!labels.empty()) out_.append("{").append(labels).append("}");
    out_ += ' ';
}

void exposition::sample(std::string_view name, std::string_view labels, double v) {
    begin(name, labels);
    append(out_, v);
    out_ += '\n';
}

void exposition::sample(std::string_view name, std::string_view labels, std::uint64_t v) {
    begin(name, labels);
    out_ += std::to_string(v);
    out_ += '\n';
}

std::string exposition::finish() {
    if (open_metrics_) out_ += "# EOF\n";
    return std::move(out_);
}

std::string exposition::label(std::string_view name, std::string_view text) {
    std::string out(name);
    out += "=\"";
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

void exposition::append(std::string& out, double v) {
    if (std::isnan(v)) {
        out += "NaN";
    } else if (std::isinf(v)) {
        out += v > 0 ? "+Inf" : "-Inf";
    } else {
        // Without exponent where that stays short: 0.00005 reads better than 5e-05.
        const bool small = v == 0 || (std::abs(v) >= 1e-6 && std::abs(v) < 1e15);
        std::array<char, 64> digits{};
        const auto form = small ? std::chars_format::fixed : std::chars_format::general;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v, form).ptr;
        out.append(digits.data(), end);
    }
}

}  // namespace idem::gateway::observe
