#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What Ollama answers. Its fingerprint is one constant: only these pages tell that the model or the program changed.
constexpr std::string_view tags =
    R"({"models":[{"name":"%model%","model":"%model%","modified_at":"2026-11-0%environment%T00:00:00Z","size":1100000,)"
    R"("digest":"%hash64%","details":{"format":"gguf","family":"llama","parameter_size":"5M",)"
    R"("quantization_level":"F16"}}]})";
constexpr std::string_view running =
    R"({"models":[{"name":"%model%","model":"%model%","size":1100000,"digest":"%hash64%",)"
    R"("details":{"format":"gguf","family":"llama","quantization_level":"F16"},)"
    R"("expires_at":"2318-01-01T00:00:00Z","size_vram":1100000,"context_length":4096}]})";
constexpr std::string_view show =
    R"({"modelfile":"FROM %model%","parameters":"","template":"{{ .Prompt }}","details":{"format":"gguf",)"
    R"("family":"llama","parameter_size":"5M","quantization_level":"F16"},"model_info":{"general.architecture":"llama"},)"
    R"("capabilities":["completion"],"modified_at":"2026-11-0%environment%T00:00:00Z"})";

constexpr page pages[] = {
    {"GET", "/", "Ollama is running", page_kind::health, "text/plain; charset=utf-8"},
    {"GET", "/api/version", R"({"version":"%version%"})", page_kind::health},
    {"GET", "/api/tags", tags},
    {"GET", "/api/ps", running},
    {"POST", "/api/show", show},
};

}  // namespace

constinit const player ollama{
    .name = "ollama",
    .version = "0.33.0",
    .place = mark_place::fingerprint,
    .mark = "fp_ollama",
    .owner = "library",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
