// The event splitter, the watchers and the conversions on any bytes. The first two bytes choose the dialect and where
// the stream is cut in two; the rest is taken as a stream and as an object.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cache/request/canonical.hpp"
#include "upstream/dialect/batching.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/lines.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

namespace {

using namespace idem;
using namespace idem::upstream::dialect;

void require(bool condition) {
    if (!condition) std::abort();
}

// All events as text, with their ranges; the ranges must follow each other.
std::string transcript(std::string_view stream, std::size_t cut) {
    sse_splitter splitter;
    std::string out;
    std::uint64_t reached = 0;
    const auto note = [&] {
        const sse_event& e = splitter.event();
        require(e.where.offset >= reached && e.where.offset + e.where.size <= stream.size());
        reached = e.where.offset + e.where.size;
        require(splitter.boundary() == reached);
        out.append(e.type).append("\n").append(e.id).append("\n").append(e.data).append("\n");
        out += std::to_string(e.where.offset) + " " + std::to_string(e.where.size) + "\n";
    };
    for (const std::string& piece : {std::string(stream.substr(0, cut)), std::string(stream.substr(cut))}) {
        std::string_view in = piece;
        while (splitter.next(in) == sse_step::event) note();
    }
    if (splitter.finish() == sse_step::event) note();
    return out + std::to_string(splitter.boundary()) + (splitter.unfinished() ? " unfinished" : "");
}

reason watch(const dialect& d, form f, std::string_view body, std::size_t cut) {
    const auto w = d.watch(f, call{});
    for (const std::string_view piece : {body.substr(0, cut), body.substr(cut)}) {
        const std::uint64_t before = w->boundary();
        w->feed(piece);
        require(w->boundary() >= before && w->boundary() <= body.size());
    }
    const verdict v = w->finish(true);
    if (const auto usage = w->usage_event()) require(usage->offset + usage->size <= body.size());
    return v.refuse;
}

// Of embeddings the other form is an object, too.
bool two_encodings(const dialect& d) {
    return d.read(R"({"encoding_format":"base64"})").wanted == form::json_base64;
}

form stream_form(const dialect& d) {
    if (two_encodings(d)) return form::json_base64;
    return d.read(R"({"stream":true})").wanted == form::ndjson ? form::ndjson : form::sse;
}

// Every event or line of a stream that we make must be one JSON text, and its words those of the object.
void check_split(const dialect& d, std::string_view object) {
    const auto stream = d.split(object, true);
    if (!stream) return;
    std::string_view in = *stream;
    if (two_encodings(d)) {
        require(is_json(*stream) && d.assemble(*stream));
    } else if (stream_form(d) == form::ndjson) {
        line_splitter splitter;
        while (splitter.next(in) == line_step::line) require(is_json(splitter.line()));
        require(splitter.boundary() == stream->size());
    } else {
        sse_splitter splitter;
        while (splitter.next(in) == sse_step::event) {
            require(splitter.event().data == "[DONE]" || is_json(splitter.event().data));
        }
        require(!splitter.unfinished());
    }
    if (const auto back = d.assemble(*stream)) require(is_json(*back));
}

void check_stream(const dialect& d, std::string_view stream, std::size_t cut) {
    const form f = stream_form(d);
    const reason why = watch(d, f, stream, cut);
    require(why == watch(d, f, stream, 0));
    const auto words = d.normalised(f, stream);
    const auto object = d.assemble(stream);
    if (!object) return;
    require(is_json(*object) && words && d.normalised(form::json, *object) == words);
    check_split(d, *object);
}

// A body as a request that comes apart, and as an answer to two things.
void check_batch(const dialect& d, std::string_view body, std::string_view canonical) {
    const batching* by = d.batches();
    if (!by) return;
    const auto items = by->items(canonical);
    if (!items.empty()) {
        require(is_json(by->without_items(canonical)));
        require(by->items(by->asking_for(canonical, items)) == items);
    }
    static_cast<void>(by->items(body));
    const std::uint32_t weights[] = {3, 5};
    const auto parts = by->split_answer(body, weights);
    if (!parts || !is_json(body)) return;
    const std::vector<std::string_view> views(parts->begin(), parts->end());
    const auto whole = by->join_answers(views);
    require(whole && is_json(*whole) && d.normalised(form::json, *whole) == d.normalised(form::json, body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string body(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::size_t cut = body.empty() ? 0 : data[1] * std::size_t{251} % (body.size() + 1);
    const dialect& d = *all()[data[0] % all().size()];

    require(transcript(body, cut) == transcript(body, 0));
    check_stream(d, body, cut);
    static_cast<void>(watch(d, form::json, body, cut));
    static_cast<void>(d.normalised(form::json, body));
    check_split(d, body);
    // Requests come here only after the canonicaliser has accepted them, but nothing may break on others.
    call c = d.read(body);
    d.read_target(c, body, body);
    static_cast<void>(d.matches("POST", body));
    require(d.digest_path(body).size() <= std::max(body.size(), d.normal_path().size()));
    static_cast<void>(d.meant({}, body));
    if (const auto asked = d.ask_usage(body); asked && is_json(body)) require(is_json(*asked));
    if (const auto rest = d.without_nonces(body); rest && is_json(body)) {
        require(is_json(*rest) && !d.without_nonces(*rest));
    }
    static_cast<void>(d.without_form(body));
    cache::canonicalizer canonicalizer;
    const auto canonical = canonicalizer.canonicalize(body, d.rules());
    check_batch(d, body, canonical.text);
    if (const auto rest = d.without_form(canonical.text)) {
        require(canonicalizer.canonicalize(*rest, d.rules()).text == *rest && !d.without_form(*rest));
    }
    return 0;
}
