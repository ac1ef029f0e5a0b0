// OpenAI speech, POST /v1/audio/speech. Its answer is audio, played while it comes, and says nowhere that it is whole:
// every call is passed through by name (form_unsupported). The dialect is here for that name, the model and the errors.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/object_only.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

void judge(simdjson::dom::object, const call&, verdict& v) {
    v.refuse = reason::form_unsupported;
}

class speech : public openai::endpoint {
public:
    speech() noexcept : endpoint("openai.speech", "/v1/audio/speech") {}
    body_rules rules() const noexcept override { return {}; }
    call read(std::string_view body) const override {
        call c;
        openai::read_model(c, find_member(body, "model"));
        if (!c.bypass) c.bypass = reason::form_unsupported;
        return c;
    }
    std::optional<std::string> normalised(form, std::string_view) const override { return std::nullopt; }
};

}  // namespace

const dialect& openai_speech() noexcept {
    static const object_only<speech> instance(judge);
    return instance;
}

}  // namespace idem::upstream::dialect
