// Fields of Gemini's calls, as the official SDKs declare them.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view body = R"({
    "systemInstruction": {"role": "user", "parts": [{"text": "Be kind."}]},
    "tools": [{"functionDeclarations": [{"name": "f", "description": "d",
        "parametersJsonSchema": {"type": "object", "properties": {"b": {}, "a": {}}}}]},
              {"function_declarations": [{"name": "g", "parameters": {"type": "OBJECT", "title": "t"}}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "generationConfig": {"temperature": 1, "responseMimeType": "application/json",
        "responseSchema": {"type": "OBJECT", "title": "t"},
        "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 100}},
    "contents": [
        {"role": "user", "parts": [{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"b": 1, "a": {"y": 1, "x": 2}}}, "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"b": 1, "a": 2}}}]}]})";

constexpr counted counts[] = {
    {"/contents", "[]", R"([{"role":"user","parts":[{"text":"Look."}]}])"},
    {"/contents/0/role", R"("model")", "null"},
    {"/contents/0/parts/0/text", R"("Look!")", R"("")"},
    {"/contents/0/parts/1/inlineData/data", R"("AAAB")", R"("")"},
    {"/contents/0/parts/1/inlineData/mimeType", R"("image/jpeg")", R"("image/webp")"},
    {"/contents/1/parts/0/functionCall/args/a/x", "3", "2e1"},
    {"/contents/1/parts/0/thoughtSignature", R"("t")", "null"},
    {"/contents/2/parts/0/functionResponse/response", "{}", R"({"a":2})"},
    {"/systemInstruction/parts/0/text", R"("Be kind. ")", R"("be kind.")"},
    {"/tools", "[]", R"([{"functionDeclarations":[{"name":"f"}]}])"},
    {"/tools/0/functionDeclarations/0/description", R"("e")", "null"},
    {"/tools/0/functionDeclarations/0/parametersJsonSchema/properties/labels", R"({"type":"string"})", "{}"},
    {"/toolConfig/functionCallingConfig/mode", R"("ANY")", R"("NONE")"},
    {"/safetySettings/0/threshold", R"("BLOCK_ONLY_HIGH")", R"("OFF")"},
    {"/serviceTier", R"("flex")", R"("priority")"},
    {"/generationConfig/temperature", "0", "0.0004"},
    {"/generationConfig/topP", "0.9991", "0.9999"},
    {"/generationConfig/topK", "1", "50"},
    {"/generationConfig/candidateCount", "1", "2"},
    {"/generationConfig/maxOutputTokens", "10", "11"},
    {"/generationConfig/stopSequences", R"(["a"])", R"(["a","b"])"},
    {"/generationConfig/seed", "9007199254740992", "9007199254740993"},
    {"/generationConfig/presencePenalty", "0", "-1"},
    {"/generationConfig/frequencyPenalty", "0", "-1"},
    {"/generationConfig/responseLogprobs", "true", "false"},
    {"/generationConfig/logprobs", "1", "2"},
    {"/generationConfig/responseMimeType", R"("text/plain")", R"("text/x.enum")"},
    {"/generationConfig/responseSchema/title", R"("u")", R"("")"},
    {"/generationConfig/responseJsonSchema", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
    {"/generationConfig/responseModalities", R"(["TEXT"])", R"(["AUDIO"])"},
    {"/generationConfig/mediaResolution", R"("MEDIA_RESOLUTION_LOW")", R"("MEDIA_RESOLUTION_HIGH")"},
    {"/generationConfig/speechConfig", R"({"languageCode":"de"})", R"({"languageCode":"en"})"},
    {"/generationConfig/thinkingConfig/thinkingBudget", "0", "-1"},
    {"/generationConfig/imageConfig", R"({"aspectRatio":"1:1"})", R"({"aspectRatio":"3:4"})"},
};

constexpr ignored ignores[] = {
    {"/labels", R"({"team":"a"})", "{}"},
};

constexpr bypassing bypasses[] = {
    {"/cachedContent", R"("cachedContents/1")", reason::stateful_call},
    {"/cached_content", R"("cachedContents/1")", reason::stateful_call},
    {"/continuationToken", R"("t")", reason::stateful_call},
    {"/store", "true", reason::stateful_call},
    {"/tools/1", R"({"googleSearch":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"google_search":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"googleSearchRetrieval":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"enterpriseWebSearch":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"exaAiSearch":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"parallelAiSearch":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"urlContext":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"googleMaps":{}})", reason::time_dependent_call},
    {"/tools/1", R"({"fileSearch":{}})", reason::stateful_call},
    {"/tools/1", R"({"retrieval":{}})", reason::stateful_call},
    {"/tools/1", R"({"codeExecution":{}})", reason::side_effecting_call},
    {"/tools/1", R"({"computerUse":{}})", reason::side_effecting_call},
    {"/tools/1", R"({"mcpServers":[]})", reason::side_effecting_call},
    {"/tools/1", R"({"a_tool_of_next_year":{}})", reason::side_effecting_call},
};

constexpr std::string_view ordered[] = {"/tools/0/functionDeclarations/0/parametersJsonSchema",
                                        "/tools/1/function_declarations/0/parameters",
                                        "/generationConfig/responseSchema", "/contents/1/parts/0/functionCall/args",
                                        "/contents/2/parts/0/functionResponse/response"};

constexpr std::string_view count_body = R"({"generateContentRequest": {"model": "models/m",
    "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "title": "t"}}]}],
    "contents": [{"role": "user", "parts": [{"text": "Look."}]}]}})";

constexpr counted count_counts[] = {
    {"/contents", "[]", R"([{"role":"user","parts":[{"text":"Look."}]}])"},
    {"/generateContentRequest/model", R"("models/n")", "null"},
    {"/generateContentRequest/contents/0/parts/0/text", R"("Look!")", R"("")"},
    {"/generateContentRequest/systemInstruction", R"({"parts":[]})", R"({"parts":[{"text":"a"}]})"},
    {"/generateContentRequest/labels", R"({"team":"a"})", "{}"},
};

constexpr bypassing count_bypasses[] = {
    {"/cachedContent", R"("cachedContents/1")", reason::stateful_call},
    {"/generateContentRequest/cachedContent", R"("cachedContents/1")", reason::stateful_call},
};

constexpr std::string_view count_ordered[] = {"/generateContentRequest/tools/0/functionDeclarations/0/parameters"};

constexpr std::string_view embed_body =
    R"({"content": {"role": "user", "parts": [{"text": "a"}]}, "taskType": "RETRIEVAL_QUERY"})";

constexpr counted embed_counts[] = {
    {"/content/parts/0/text", R"("A")", R"("")"},
    {"/taskType", R"("RETRIEVAL_DOCUMENT")", "null"},
    {"/title", R"("t")", R"("u")"},
    {"/outputDimensionality", "8", "9"},
};

constexpr std::string_view batch_body =
    R"({"requests": [{"model": "models/m", "content": {"parts": [{"text": "a"}]}}, {"content": {"parts": [{"text": "b"}]}}]})";

constexpr counted batch_counts[] = {
    {"/requests", "[]", R"([{"content":{"parts":[{"text":"b"}]}},{"content":{"parts":[{"text":"a"}]}}])"},
    {"/requests/0/content/parts/0/text", R"("A")", R"("")"},
    {"/requests/1/outputDimensionality", "8", "9"},
    {"/requests/1/taskType", R"("RETRIEVAL_DOCUMENT")", R"("CLUSTERING")"},
};

constexpr table all[] = {
    {"gemini.generate", "/v1beta/models/gemini-3-flash:generateContent", body, counts, ignores, bypasses, ordered, {}},
    {"gemini.count_tokens",
     "/v1beta/models/gemini-3-flash:countTokens",
     count_body,
     count_counts,
     {},
     count_bypasses,
     count_ordered,
     {}},
    {"gemini.embed", "/v1beta/models/gemini-embedding-001:embedContent", embed_body, embed_counts, {}, {}, {}, {}},
    {"gemini.batch_embed",
     "/v1beta/models/gemini-embedding-001:batchEmbedContents",
     batch_body,
     batch_counts,
     {},
     {},
     {},
     {}},
};

}  // namespace

std::span<const table> gemini() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
