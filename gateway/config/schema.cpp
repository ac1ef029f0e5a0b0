#include "gateway/config/schema.hpp"

#include "gateway/config/schema_table.hpp"
#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

std::string show_duration(std::uint64_t n) {
    return format_duration(milliseconds(static_cast<std::int64_t>(n)));
}

// As a scalar of a file, where `${` would stand for a variable.
std::string scalar(std::string text) {
    for (std::size_t at = 0; (at = text.find("${", at)) != std::string::npos; at += 3) text.insert(at, 1, '$');
    return yaml_scalar(text);
}

std::string flow(const std::vector<std::string>& list, bool mask) {
    std::string out = "[";
    for (const auto& item : list) {
        if (out.size() > 1) out += ", ";
        out += scalar(mask ? mask_url(item) : item);
    }
    return out + "]";
}

}  // namespace

const section& schema() {
    return table::top;
}
const section& policy_section() {
    return table::policies;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> out;
    while (true) {
        const auto at = text.find(separator);
        out.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + 1);
    }
}

std::string range(const key& k) {
    const auto show = [&](std::uint64_t n) {
        return k.type == kind::integer    ? std::to_string(n)
               : k.type == kind::percent  ? std::to_string(n) + "%"
               : k.type == kind::duration ? show_duration(n)
                                          : format_size(n);
    };
    std::string out;
    if (k.least > 0) out += ", from " + show(k.least);
    if (k.most != ~0ull) out += (k.least > 0 ? " to " : ", at most ") + show(k.most);
    return out;
}

std::string expected(const key& k) {
    if (!k.choices.empty()) {
        std::string out = "one of";
        for (const auto word : split(k.choices, '|')) out += (out.size() > 6 ? ", " : " ") + std::string(word);
        return split(k.choices, '|').size() == 1 ? std::string(k.choices) : out;
    }
    switch (k.type) {
        case kind::boolean:
            return "true or false";
        case kind::integer:
            return "a whole number" + range(k);
        case kind::size:
            return "a size such as 64MiB or 4GiB" + range(k);
        case kind::share:
            return "a size such as 256MiB, a share such as 40%, or 0" + range(k);
        case kind::percent:
            return "a percentage such as 50%" + range(k);
        case kind::ratio:
            return "a number from 0 to 1 such as 0.02";
        case kind::duration:
            return "a duration such as 50ms, 30s, 15m or 30d" + range(k);
        case kind::address:
            return "ADDRESS:PORT such as 127.0.0.1:8080, [::1]:8080 or :8080";
        case kind::choice:
            break;
        case kind::text:
            return "text";
        case kind::secret:
            return "text, ${VARIABLE} or {file: PATH}";
        case kind::url:
            return "a URL";
        case kind::texts:
            return "a list of texts";
        case kind::urls:
            return "a list of URLs";
        case kind::pairs:
            return "a mapping of names to texts";
        case kind::items:
            return "a list of mappings";
        case kind::named:
            return "a mapping of names to mappings";
    }
    return {};
}

std::string written(const key& k, const value& v) {
    switch (k.type) {
        case kind::boolean:
            return v.number != 0 ? "true" : "false";
        case kind::integer:
            return std::to_string(v.number);
        case kind::size:
        case kind::share:
            return format_size(v.number);
        case kind::percent:
            return std::to_string(v.number) + "%";
        case kind::ratio:
            return format_ratio(v.number);
        case kind::duration:
            return show_duration(v.number);
        case kind::address:
            return yaml_scalar(format_address(v.at));
        case kind::choice:
            return std::string(split(k.choices, '|').at(v.number));
        case kind::text:
            return scalar(v.text);
        case kind::secret:
            return "\"***\"";
        case kind::url:
            return scalar(mask_url(v.text));
        case kind::texts:
            return flow(v.list, false);
        case kind::urls:
            return flow(v.list, true);
        case kind::pairs: {
            std::string out = "{";
            for (const auto& [name, text] : v.pairs) {
                out += (out.size() > 1 ? ", " : "") + yaml_scalar(name) + ": " + scalar(text);
            }
            return out + "}";
        }
        case kind::items:
        case kind::named:
            break;
    }
    return {};
}

}  // namespace idem::gateway::config
