"""Answers of every kind that the simulated engine does not give, in object form and as streams, for the round trips: OpenAI chat and
responses, Anthropic messages, Ollama chat, Gemini. An upstream gives each under its name, which is the model's."""
import json

import raw_upstream

USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 2}}
TEXT = 'h\u00e9 "\u65e5\u672c" \U0001f600\n\\'


def completion(*messages, finish="stop", **of_choices):
    return {"id": "c1", "object": "chat.completion", "created": 7, "model": "m", "system_fingerprint": "fp", "usage": USAGE, "choices": [
        {"index": n, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": finish, **of_choices}
        for n, message in enumerate(messages)]}


def tool(number, arguments):
    return {"id": f"call_{number}", "type": "function", "function": {"name": f"f{number}", "arguments": arguments}}


def token(text):
    return {"token": text, "logprob": -0.5, "bytes": list(text.encode()), "top_logprobs": []}


CHAT = {
    "text": completion({"content": TEXT, "refusal": None}),
    "empty": completion({"content": "", "refusal": None}),
    "two choices": completion({"content": "a", "refusal": None}, {"content": "b", "refusal": None}),
    "tool calls, one without arguments": completion({"content": None, "refusal": None, "tool_calls": [tool(1, ""), tool(2, '{"a": 1.0}')]}, finish="tool_calls"),
    "text and a tool call": completion({"content": TEXT, "refusal": None, "tool_calls": [tool(1, "{}")]}, finish="tool_calls"),
    "log probabilities": completion({"content": "ab", "refusal": None}, logprobs={"content": [token("a"), token("b")], "refusal": None}),
    "a finish nobody knows": completion({"content": "x", "refusal": None}, finish="eos_token"),
    "reasoning and nothing else": completion({"reasoning_content": "because", "content": "", "refusal": None}),
    "annotations": completion({"content": "x", "refusal": None, "annotations": [
        {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "a", "start_index": 0, "end_index": 1}}]}),
}


def chunk(*choices, **more):
    return {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": list(choices), **more}


def delta(value, finish=None, index=0):
    return {"index": index, "delta": value, "finish_reason": finish}


ROLE, STOP, COUNT = chunk(delta({"role": "assistant", "content": ""})), chunk(delta({}, "stop")), chunk(usage=USAGE)
CALL = {"index": 0, "id": "call_1", "type": "function"}
CHAT_STREAMS = {
    "pieces": [ROLE, *(chunk(delta({"content": c})) for c in TEXT), STOP, COUNT],
    "choices that interleave": [chunk(delta({"role": "assistant", "content": "b"}, index=1)), chunk(delta({"role": "assistant", "content": "a"})),
                                chunk(delta({"content": "B"}, index=1)), chunk(delta({}, "stop", 1)), chunk(delta({"content": "A"})), STOP, COUNT],
    "words after the end": [ROLE, chunk(delta({"content": "a"})), STOP, chunk(delta({"content": "!"})), COUNT],
    "empty deltas": [ROLE, chunk(delta({})), chunk(delta({"content": ""})), chunk(delta({"content": "x"})), chunk(delta({})), STOP, COUNT],
    "usage in every chunk": [{**ROLE, "usage": USAGE}, {**chunk(delta({"content": "x"})), "usage": USAGE}, {**STOP, "usage": USAGE}, COUNT],
    "a first chunk of Azure": [chunk(prompt_filter_results=[]), ROLE, chunk(delta({"content": "x"})), STOP, COUNT],
    "a finish nobody knows": [ROLE, chunk(delta({"content": "x"})), chunk(delta({}, "eos_token")), COUNT],
    "a call in pieces": [chunk(delta({"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": ""}}]})),
                         *(chunk(delta({"tool_calls": [{"index": 0, "function": {"arguments": c}}]})) for c in '{"a": "\u00e9"}'),
                         chunk(delta({}, "tool_calls")), COUNT],
    "a call without arguments": [chunk(delta({"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": ""}}]})),
                                 chunk(delta({}, "tool_calls")), COUNT],
    "everything at once": [chunk(delta({"role": "assistant", "content": "x"}, "stop")), COUNT],
}


def response(*items, **more):
    return {"id": "resp_1", "object": "response", "created_at": 7, "status": "completed", "error": None, "incomplete_details": None, "instructions": None,
            "metadata": {}, "model": "m", "output": list(items), "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [],
            "top_p": 1.0, "usage": {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
                                    "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 8}, **more}


def said(*parts):
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": list(parts)}


def output_text(text, annotations=()):
    return {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}


RESPONSES = {
    "text": response(said(output_text(TEXT))),
    "two parts": response(said(output_text("a"), output_text("b"))),
    "a citation": response(said(output_text("x", [{"type": "url_citation", "url": "https://a.example", "title": "a", "start_index": 0, "end_index": 1}]))),
    "a call": response({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a": 1.0}', "status": "completed"}),
    "a call without arguments": response({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "", "status": "completed"}),
    "reasoning, then text": response({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]},
                                     said(output_text(TEXT))),
    "a call of a custom tool": response({"id": "ct_1", "type": "custom_tool_call", "call_id": "call_1", "name": "f", "input": TEXT}),
}


def responding(whole, *item_events):
    """The events of a response: what happens to its items, between its beginning and its end."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events = [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}, *item_events,
              {"type": "response.completed", "response": whole}]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def telling(index, *texts):
    """The events of an item that says texts, each in pieces, and the item."""
    item = {**said(*(output_text(text) for text in texts)), "id": f"msg_{index}"}
    events = [{"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress", "content": []}}]
    for number, text in enumerate(texts):
        place = {"item_id": item["id"], "output_index": index, "content_index": number}
        events += [{"type": "response.content_part.added", **place, "part": output_text("")},
                   *({"type": "response.output_text.delta", **place, "delta": c, "logprobs": []} for c in text),
                   {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
                   {"type": "response.content_part.done", **place, "part": output_text(text)}]
    return [*events, {"type": "response.output_item.done", "output_index": index, "item": item}], item


def calling(index, arguments):
    item = {"id": f"fc_{index}", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": arguments, "status": "completed"}
    place = {"item_id": item["id"], "output_index": index}
    return [{"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress", "arguments": ""}},
            *({"type": "response.function_call_arguments.delta", **place, "delta": c} for c in arguments),
            {"type": "response.function_call_arguments.done", **place, "name": "f", "arguments": arguments},
            {"type": "response.output_item.done", "output_index": index, "item": item}], item


def streamed(*made):
    return responding(response(*(item for _, item in made)), *(event for events, _ in made for event in events))


RESPONSE_STREAMS = {
    "text in pieces": streamed(telling(0, TEXT)),
    "two parts": streamed(telling(0, "a", "b")),
    "text and a call in pieces": streamed(telling(0, "x"), calling(1, '{"a": 1.0}')),
}


def message(*blocks, stop="end_turn", **more):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}, **more}


MESSAGES = {
    "text": message({"type": "text", "text": TEXT}),
    "nothing": message({"type": "text", "text": ""}),
    "a call": message({"type": "text", "text": "x"}, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1, "a": [TEXT]}}, stop="tool_use"),
    "a call without input": message({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}, stop="tool_use"),
    "thoughts": message({"type": "thinking", "thinking": TEXT, "signature": "c2ln"}, {"type": "redacted_thinking", "data": "AAA="}, {"type": "text", "text": "x"}),
    "a stop sequence": {**message({"type": "text", "text": "x"}, stop="stop_sequence"), "stop_sequence": "###"},
    "citations": message({"type": "text", "text": "x", "citations": [
        {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": "d", "start_char_index": 0, "end_char_index": 1, "file_id": None}]}),
}


def named(*events):
    return [(value["type"], value) for value in events]


def block(index, start, *deltas):
    return [{"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas), {"type": "content_block_stop", "index": index}]


START = {"type": "message_start", "message": {**message(stop=None), "usage": {"input_tokens": 3, "output_tokens": 1}}}
PING = {"type": "ping"}


def ends(stop):
    return [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]


MESSAGE_STREAMS = {
    "pieces and pings": named(START, PING, *block(0, {"type": "text", "text": ""}, *({"type": "text_delta", "text": c} for c in TEXT)), PING, *ends("end_turn")),
    "a call in pieces": named(START, *block(0, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}, {"type": "input_json_delta", "partial_json": ""},
                                            *({"type": "input_json_delta", "partial_json": c} for c in '{"b": 1, "a": "\u00e9"}')), *ends("tool_use")),
    "a call without input": named(START, *block(0, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
                                                {"type": "input_json_delta", "partial_json": ""}), *ends("tool_use")),
    "thoughts": named(START, *block(0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "a"},
                                    {"type": "thinking_delta", "thinking": "b"}, {"type": "signature_delta", "signature": "c2ln"}),
                      *block(1, {"type": "redacted_thinking", "data": "AAA="}), *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "x"}),
                      *ends("end_turn")),
}
DONE = {"done": True, "done_reason": "stop", "total_duration": 9, "load_duration": 1, "prompt_eval_count": 3, "prompt_eval_duration": 2, "eval_count": 5,
        "eval_duration": 6}


def line(value, **more):
    return {"model": "m", "created_at": "2026-01-01T00:00:00.5Z", "message": {"role": "assistant", **value}, "done": False, **more}


OLLAMA = {
    "text": line({"content": TEXT}, **DONE),
    "thoughts": line({"content": "x", "thinking": TEXT}, **DONE),
    "calls": line({"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1, "a": TEXT}}}, {"function": {"name": "g", "arguments": {}}}]}, **DONE),
}
OLLAMA_STREAMS = {
    "pieces": [*(line({"content": c}) for c in TEXT), line({"content": ""}, **DONE)],
    "thoughts": [line({"content": "", "thinking": "a"}), line({"content": "", "thinking": "b"}), line({"content": "x"}), line({"content": ""}, **DONE)],
    "a call": [line({"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}), line({"content": ""}, **DONE)],
    "one line": [line({"content": "x"}, **DONE)],
}


def candidates(*parts, **more):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8}, "modelVersion": "m", "responseId": "r1", **more}


def frame(*parts, **more):
    whole = candidates(*parts, **more)
    del whole["candidates"][0]["finishReason"]
    return whole


GEMINI = {
    "text": candidates({"text": TEXT}),
    "thoughts": candidates({"text": "because", "thought": True}, {"text": TEXT}),
    "a call": candidates({"functionCall": {"id": "1", "name": "f", "args": {"b": 1, "a": TEXT}}, "thoughtSignature": "c2ln"}),
}
GEMINI_STREAMS = {
    "pieces": [*(frame({"text": c}) for c in TEXT[:-1]), candidates({"text": TEXT[-1]})],
    "thoughts": [frame({"text": "a", "thought": True}), frame({"text": "b", "thought": True}), candidates({"text": "x"})],
    "a call": [frame({"text": "x"}), candidates({"functionCall": {"name": "f", "args": {"a": 1}}})],
}

# By the last part of the path.
ALL = {"completions": (CHAT, CHAT_STREAMS), "responses": (RESPONSES, RESPONSE_STREAMS), "messages": (MESSAGES, MESSAGE_STREAMS), "chat": (OLLAMA, OLLAMA_STREAMS),
       "gemini": (GEMINI, GEMINI_STREAMS)}


def written(dialect, values):
    """A stream as that API writes it."""
    if dialect == "chat":
        return [json.dumps(value) + "\n" for value in values]
    if dialect == "messages":
        return [f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in values]
    if dialect == "responses":
        return [f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in values]
    end = "\r\n\r\n" if dialect == "gemini" else "\n\n"
    return [*(f"data: {json.dumps(value)}{end}" for value in values), *(["data: [DONE]\n\n"] if dialect == "completions" else [])]


def answer(request):
    """To a call for the model "object NAME" or "stream NAME": that one, in the only form it is there; 404 for the other form."""
    head, _, body = request.partition(b"\r\n\r\n")
    path = head.split(b" ")[1].decode().partition("?")[0]
    if "models/" in path:
        dialect, (name, _, method) = "gemini", path.rpartition("models/")[2].partition(":")
        name, streams = name.replace("%20", " ").replace("%2C", ","), method == "streamGenerateContent"
    else:
        call = json.loads(body)
        dialect, name, streams = path.rpartition("/")[2], call["model"], call.get("stream", path.startswith("/api/"))
    form, _, name = name.partition(" ")
    objects, made = ALL[dialect]
    if form == "object" and not streams:
        return raw_upstream.sized(json.dumps(objects[name])), "keep"
    if form == "stream" and streams:
        return raw_upstream.chunked(written(dialect, made[name]), "application/x-ndjson" if dialect == "chat" else "text/event-stream"), "keep"
    return raw_upstream.sized('{"error":{"message":"not in this form"}}', status="404 Not Found"), "keep"
