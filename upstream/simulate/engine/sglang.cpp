#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What SGLang answers. Both health checks generate one token beside whatever runs. There is no fingerprint: answers
// carry the version of the weights.
constexpr std::string_view server_info =
    R"({"model_path":"%model%","tokenizer_path":"%model%","dtype":"bfloat16","quantization":null,"tp_size":1,)"
    R"("dp_size":1,"random_seed":42,"attention_backend":"fa3","sampling_backend":"pytorch","chunked_prefill_size":8192,)"
    R"("disable_radix_cache":false,"enable_deterministic_inference":true,"revision":"%hash8%",)"
    R"("version":"%version%","internal_states":[{"last_gen_throughput":0.0,"weight_version":"default-%environment%"}]})";
constexpr std::string_view model_info =
    R"({"model_path":"%model%","tokenizer_path":"%model%","is_generation":true,"preferred_sampling_params":null,)"
    R"("weight_version":"default-%environment%"})";
constexpr std::string_view loads =
    R"({"version":"%version%","dp_rank_count":1,"loads":[{"dp_rank":0,"num_running_reqs":%running%,"num_waiting_reqs":0}]})";

constexpr page pages[] = {
    {"GET", "/health", "", page_kind::generating},
    {"GET", "/health_generate", "", page_kind::generating},
    {"GET", "/server_info", server_info},
    {"GET", "/get_server_info", server_info},
    {"GET", "/model_info", model_info},
    {"GET", "/get_model_info", model_info},
    {"GET", "/v1/loads", loads},
    {"GET", "/get_load", loads},
    {"POST", "/flush_cache", "Cache flushed.\n", page_kind::reset, "text/plain; charset=utf-8"},
    {"GET", "/flush_cache", "Cache flushed.\n", page_kind::reset, "text/plain; charset=utf-8"},
};

}  // namespace

constinit const player sglang{
    .name = "sglang",
    .version = "0.5.23",
    .place = mark_place::weight_version,
    .mark = "default-%environment%",
    .model_tail = R"(,"root":"%model%","max_model_len":32768)",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
