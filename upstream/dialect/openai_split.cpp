#include "upstream/dialect/openai_split.hpp"

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::openai {
namespace {

constexpr std::size_t repeatable = 256;

bool repeats(std::string_view token) noexcept {
    const json_kind kind = kind_of(token);
    return kind != json_kind::array && kind != json_kind::object && token.size() <= repeatable;
}

}  // namespace

chunk_writer::chunk_writer(std::string_view object, std::string_view expected, std::string_view name,
                           bool include_usage)
    : include_usage_(include_usage) {
    if (!is_json(object)) return;
    bool splits = true;
    bool named = false;
    json_members members(trim(object));
    while (members.next()) {
        const std::string_view key = members.key();
        if (key == "choices") {
            if (!choices_.empty()) splits = false;
            choices_ = members.value();
        } else if (key == "usage") {
            if (!usage_.empty()) splits = false;
            usage_ = members.value();
        } else if (key == "error" || key == "obfuscation") {
            splits = false;
        } else if (key == "object") {
            named = string_inner(members.value()) == expected;
            common_.append(R"("object":")").append(name).append("\",");
        } else {
            std::string& list = repeats(members.value()) ? common_ : once_;
            append_member(list, key, members.value());
            list += ',';
        }
    }
    if (kind_of(choices_) != json_kind::array) splits = false;
    if (include_usage && kind_of(usage_) != json_kind::object) splits = false;
    good_ = splits && named;
    out_.reserve(object.size() * 2);
}

void chunk_writer::begin_chunk() {
    out_.append("data: {").append(common_).append(once_).append(R"("choices":[)");
    once_.clear();
}

void chunk_writer::write(std::string_view choice) {
    begin_chunk();
    out_.append(choice).append(include_usage_ ? "],\"usage\":null}\n\n" : "]}\n\n");
}

std::string chunk_writer::finish() {
    if (include_usage_) {
        begin_chunk();
        out_ += "],";
        append_member(out_, "usage", usage_);
        out_ += "}\n\n";
    }
    out_ += "data: [DONE]\n\n";
    return std::move(out_);
}

}  // namespace idem::upstream::dialect::openai
