#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What llama-server answers. The media marker is another one in each process; the fingerprint of answers is the build.
constexpr std::string_view props =
    R"({"default_generation_settings":{"id":0,"n_ctx":4096,"speculative":false,"is_processing":false,)"
    R"("params":{"seed":4294967295,"temperature":0.8,"repeat_penalty":1.0}},"total_slots":1,"model_alias":"%model%",)"
    R"("model_path":"/models/%model%-%environment%.gguf","modalities":{"vision":false,"audio":false},)"
    R"("media_marker":"<__media_%process%__>","chat_template":"{% for m in messages %}{{ m.content }}{% endfor %}",)"
    R"("bos_token":"<s>","eos_token":"</s>","build_info":"%version%","is_sleeping":false})";
constexpr std::string_view slots =
    R"([{"id":0,"n_ctx":4096,"speculative":false,"is_processing":%busy%,"params":{"temperature":0.8}}])";
constexpr std::string_view metrics =
    "# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing %running%\n";

constexpr page pages[] = {
    {"GET", "/health", R"({"status":"ok"})", page_kind::health},
    {"GET", "/v1/health", R"({"status":"ok"})", page_kind::health},
    {"GET", "/props", props},
    {"GET", "/slots", slots},
    {"GET", "/lora-adapters", "[]"},
    {"GET", "/metrics", metrics, page_kind::facts, "text/plain; version=0.0.4"},
    {"POST", "/slots/*", R"({"id_slot":0,"n_erased":0})", page_kind::reset, "application/json", "action=erase"},
};

}  // namespace

constinit const player llamacpp{
    .name = "llamacpp",
    .version = "b6890-4d2f1c3a",
    .place = mark_place::fingerprint,
    .mark = "%version%",
    .model_tail = R"(,"meta":{"vocab_type":1,"n_vocab":32000,"n_ctx_train":4096,"n_embd":64,"n_params":5000000,)"
                  R"("size":1100000%environment%})",
    .models_tail = R"(,"models":[{"name":"%model%","model":"%model%","type":"model"}])",
    .pages = pages,
    .starting = R"({"error":{"message":"Loading model","type":"unavailable_error","code":503}})",
};

}  // namespace idem::upstream::simulate::engine
