"""What an application does with the official Google Gen AI SDK, run through Idem; the counterpart of js/google_scenarios.mjs, with
the same environment variables. The SDK is configured by its environment variables alone."""
import json
import os

from google import genai
from google.genai import errors, types
from harness import STAMP, main

MODEL = "gemini-simulated"
QUESTIONS = iter(range(1, 10_000))
ANSWERS = []  # (X-Cache, bytes), the last one last


def record(response):
    response.read()
    ANSWERS.append((response.headers.get("x-cache"), response.content))


def client(**options):
    return genai.Client(http_options=types.HttpOptions(client_args={"event_hooks": {"response": [record]}}, **options))


CLIENT = client()


def ask(**config):
    """A request that nobody has sent before."""
    return {"model": MODEL, "contents": f'Question {STAMP}-{next(QUESTIONS)}: why is the sky blue? "quoted" é 漢 🙂',
            "config": {"temperature": 0, **config}}


def words(chunks):
    """What the chunks of a stream, or one object, make together."""
    text, thought, calls, finish, usage = "", "", [], None, None
    for chunk in chunks:
        candidate = chunk.candidates[0]
        for part in candidate.content.parts:
            if part.function_call:
                calls.append((part.function_call.name, part.function_call.args))
            elif part.thought:
                thought += part.text
            else:
                text += part.text
        finish = candidate.finish_reason or finish
        usage = chunk.usage_metadata or usage
    return text, thought, calls, finish, usage


def whole(request, of=CLIENT):
    return words([of.models.generate_content(**request)])


def streamed(request, of=CLIENT):
    return words(of.models.generate_content_stream(**request))


def twice(call):
    """Makes the call twice; the second is a hit with the same bytes."""
    call()
    first_cache, first = ANSWERS[-1]
    value = call()
    second_cache, second = ANSWERS[-1]
    assert (first_cache, second_cache) == ("MISS", "HIT"), (first_cache, second_cache)
    assert first == second
    return value


def both_forms(**config):
    """An entry filled in one form answers the other form, and the SDK sees the same answer both ways."""
    one = ask(**config)
    answer = whole(one)
    assert streamed(one) == answer
    assert ANSWERS[-1][0] == "HIT", "a stream after an object"
    two = ask(**config)
    chunks = streamed(two)
    assert whole(two) == chunks
    assert ANSWERS[-1][0] == "HIT", "an object after a stream"
    return answer


TOOLS = [{"function_declarations": [{"name": "paint", "description": "Paints the wall.", "parameters_json_schema": {
    "type": "object", "properties": {"colour": {"type": "string"}, "coats": {"type": "integer"}}, "required": ["colour"]}}]}]


def test_generate():
    request = ask()
    answer = twice(lambda: CLIENT.models.generate_content(**request))
    assert answer.text
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP


def test_streaming():
    request = ask()
    text, _, _, finish, usage = twice(lambda: streamed(request))
    assert text and finish == types.FinishReason.STOP and usage.total_token_count > 0


def test_object_and_stream_share_an_entry():
    both_forms()


def test_tools():
    name, args = both_forms(tools=TOOLS, automatic_function_calling={"disable": True})[2][0]
    assert name == "paint" and isinstance(args["coats"], int)


def test_thinking():
    text, thought = both_forms(thinking_config={"include_thoughts": True})[:2]
    assert text and thought


def test_schema_and_limit():
    text = both_forms(response_mime_type="application/json", response_json_schema={"type": "object", "properties": {"a": {"type": "string"}}})[0]
    assert isinstance(json.loads(text)["a"], str)
    assert both_forms(max_output_tokens=3)[3] == types.FinishReason.MAX_TOKENS


def test_chat():
    def history():
        chat = CLIENT.chats.create(model=MODEL, config={"temperature": 0})
        for message in ("one", "two"):
            chat.send_message(f"{message} {STAMP}")
        return [(content.role, content.parts[0].text) for content in chat.get_history()]

    assert history() == history()
    assert ANSWERS[-1][0] == "HIT"


def test_counting_tokens_and_embedding():
    assert twice(lambda: CLIENT.models.count_tokens(model=MODEL, contents=f"count {STAMP}")).total_tokens > 0
    found = twice(lambda: CLIENT.models.embed_content(model=MODEL, contents=[f"one {STAMP}", f"two {STAMP}"], config={"output_dimensionality": 4}))
    assert all(len(embedding.values) == 4 for embedding in found.embeddings)


def test_tools_of_the_provider_are_not_cached():
    request = ask(tools=[{"google_search": {}}])
    for _ in range(2):
        CLIENT.models.generate_content(**request)
        assert ANSWERS[-1][0] == "BYPASS"


def test_error_classes():
    it = client(base_url=os.environ["PROVIDER_URL"])
    for status, kind in {400: errors.ClientError, 404: errors.ClientError, 429: errors.ClientError, 500: errors.ServerError}.items():
        try:
            it.models.generate_content(model=f"fail-{status}", contents="x")
        except kind as error:
            assert error.code == status and f"made to fail with {status}" in error.message, error
        else:
            raise AssertionError(f"{status} was no error")


def test_errors_of_the_gateway():
    dead = client(base_url=os.environ["DEAD_URL"])
    try:
        dead.models.generate_content(**ask())
    except errors.ServerError as error:
        assert (error.code, error.status) == (502, "UNAVAILABLE")
        assert error.details["error"]["details"][0]["reason"]
    else:
        raise AssertionError("a dead upstream was no error")


if __name__ == "__main__":
    main(globals())
