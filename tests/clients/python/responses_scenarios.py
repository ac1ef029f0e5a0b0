"""What an application does with the responses and the plain objects of the official SDK, run through Idem; the counterpart of
js/responses_scenarios.mjs, with the same environment variables."""
import json
import os

import openai
from harness import STAMP, main, raw, twice

MODEL = "simulated"
CLIENT = openai.OpenAI()
QUESTIONS = iter(range(1, 10_000))

TOOLS = [{"type": "function", "name": "paint", "description": "Paints the wall.", "strict": True,
          "parameters": {"type": "object", "properties": {"colour": {"type": "string"}, "coats": {"type": "integer"}},
                         "required": ["colour", "coats"], "additionalProperties": False}}]


def ask(**extra):
    """A request that nobody has sent before."""
    return {"model": MODEL, "temperature": 0, "input": f'Question {STAMP}-{next(QUESTIONS)}: why is the sky blue? "quoted" é 漢 🙂', **extra}


def plain(value):
    """A response as it travels, without what the helpers add."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in ("output_text", "parsed", "parsed_arguments")}
    return value


def accumulate(request):
    """What the SDK's own accumulator makes of a stream."""
    with CLIENT.responses.stream(**request) as stream:
        stream.until_done()
        return plain(stream.get_final_response().to_dict())


def both_forms(**extra):
    """An entry filled in one form answers the other form, and the SDK sees the same response both ways."""
    one = ask(**extra)
    response = CLIENT.responses.create(**one)
    cache, body = raw(CLIENT.responses, **one, stream=True)
    assert cache == "HIT", f"a stream after an object: {cache}"
    assert b"\nevent: response.completed\n" in body
    assert accumulate(one) == plain(response.to_dict())

    two = ask(**extra)
    accumulated = accumulate(two)
    cache, body = raw(CLIENT.responses, **two)
    assert cache == "HIT", f"an object after a stream: {cache}"
    assert plain(json.loads(body)) == accumulated
    assert accumulate(two) == accumulated
    return response


def shown(request):
    """Every text of a stream as its deltas bring it."""
    text, numbers = "", []
    for event in CLIENT.responses.create(**request, stream=True):
        numbers.append(event.sequence_number)
        if event.type == "response.output_text.delta":
            text += event.delta
    assert numbers == list(range(len(numbers)))
    return text


def test_response():
    request = ask()
    twice(CLIENT.responses, **request)
    answer = CLIENT.responses.create(**request)
    assert answer.status == "completed"
    assert answer.output_text
    assert answer.usage.input_tokens > 0


def test_streaming():
    request = ask()
    twice(CLIENT.responses, **request, stream=True)
    text = shown(request)
    assert CLIENT.responses.create(**request).output_text == text
    other = ask()
    assert CLIENT.responses.create(**other).output_text == shown(other)


def test_object_and_stream_share_an_entry():
    both_forms()


def test_tools():
    extra = {"tools": TOOLS, "tool_choice": {"type": "function", "name": "paint"}}
    twice(CLIENT.responses, **ask(**extra))
    call = both_forms(**extra).output[0]
    assert call.name == "paint"
    assert isinstance(json.loads(call.arguments)["coats"], int)
    answered = ask(tools=TOOLS, input=[{"role": "user", "content": f"{STAMP}-{next(QUESTIONS)}"}, call.to_dict(),
                                       {"type": "function_call_output", "call_id": call.call_id, "output": "done"}])
    twice(CLIENT.responses, **answered)


def test_reasoning():
    response = both_forms(reasoning={"effort": "low", "summary": "auto"})
    assert [item.type for item in response.output] == ["reasoning", "message"]


def test_limit():
    cut = ask(max_output_tokens=3)
    twice(CLIENT.responses, **cut)
    assert CLIENT.responses.create(**cut).incomplete_details.reason == "max_output_tokens"
    assert shown(cut)


def test_what_the_provider_holds_or_runs_is_not_cached():
    for extra in ({"previous_response_id": "resp_1"}, {"background": True}, {"tools": [{"type": "web_search_preview"}]}):
        request = ask(**extra)
        assert [raw(CLIENT.responses, **request)[0] for _ in range(2)] == ["BYPASS", "BYPASS"], extra


def test_moderations():
    twice(CLIENT.moderations, model="omni-moderation-latest", input=[f"one {STAMP}", f"two {STAMP}"])


def test_images():
    twice_images = {"model": "gpt-image-1", "prompt": f"a cat {STAMP}", "n": 2}
    answers = [CLIENT.images.with_raw_response.generate(**twice_images) for _ in range(2)]
    assert [answer.headers["x-cache"] for answer in answers] == ["MISS", "HIT"]
    assert answers[0].content == answers[1].content
    assert len(answers[0].parse().data) == 2


def test_speech():
    answer = CLIENT.audio.speech.with_raw_response.create(model="tts-1", voice="alloy", input=f"hello {STAMP}")
    assert answer.headers["x-cache"] == "BYPASS"
    assert answer.content.startswith(b"RIFF")


def test_errors_of_the_gateway():
    dead = openai.OpenAI(base_url=os.environ["DEAD_BASE_URL"], max_retries=0)
    try:
        dead.responses.create(**ask())
    except openai.InternalServerError as error:
        assert error.code, "the reason is the code"
    else:
        raise AssertionError("a dead upstream was no error")


if __name__ == "__main__":
    main(globals())
