#pragma once
// What the OpenAI endpoints share whose answer is a list of choices, each in one of two forms. Sans-I/O, any thread.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/openai_fold.hpp"

namespace idem::upstream::dialect::openai {

/// How one API's choices are made: what the endpoint below stands on.
struct choice_form {
    std::string_view payload;  // what every choice of the object form holds
    std::optional<folded> (*fold)(std::string_view stream);
    std::optional<std::string> (*split)(std::string_view object, bool include_usage);
    std::optional<std::string> (*normalised)(std::string_view object);
};

class choices_endpoint : public endpoint {
public:
    choices_endpoint(std::string_view name, std::string_view path, choice_form form,
                     spelling spelled = spelling::either) noexcept
        : endpoint(name, path, spelled), form_(form) {}
    std::unique_ptr<watcher> watch(form f, const call& c) const final;
    std::optional<std::string> ask_usage(std::string_view body) const override { return openai::ask_usage(body); }
    std::optional<std::string> assemble(std::string_view stream) const final;
    std::optional<std::string> split(std::string_view object, bool include_usage) const override {
        return form_.split(object, include_usage);
    }
    std::optional<std::string> normalised(form f, std::string_view body) const final;

private:
    choice_form form_;
};

}  // namespace idem::upstream::dialect::openai
