"""What an application does with LangChain's OpenAI chat model, run through Idem; the counterpart of js/langchain_scenarios.mjs,
with the same environment variables."""
from harness import TOOL, main, new_ask, recorder, twice_equal
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

CACHES = recorder()
CHAT = ChatOpenAI(model="simulated", temperature=0, max_tokens=200, max_retries=0)
PAINTER = CHAT.bind_tools([TOOL], tool_choice="required")


def comparable(message):
    return {key: getattr(message, key) for key in ("content", "tool_calls", "usage_metadata", "response_metadata")}


def invoke(model, ask):
    return comparable(model.invoke([SystemMessage("Be brief."), HumanMessage(ask)]))


def stream(model, ask):
    whole = None
    for chunk in model.stream([SystemMessage("Be brief."), HumanMessage(ask)]):
        whole = chunk if whole is None else whole + chunk
    return comparable(whole)


def test_invoke_and_stream():
    ask = new_ask()
    message = twice_equal(CACHES, lambda: invoke(CHAT, ask))
    assert message["content"] and message["usage_metadata"]["total_tokens"] > 0
    assert stream(CHAT, ask)["content"] == message["content"]
    assert CACHES[-1] == "HIT", "a stream after an object"


def test_stream():
    ask = new_ask()
    assert twice_equal(CACHES, lambda: stream(CHAT, ask))["content"]


def test_tools():
    for way in (invoke, stream):
        ask = new_ask()
        call = twice_equal(CACHES, lambda: way(PAINTER, ask))["tool_calls"][0]
        assert call["name"] == "paint" and call["args"]["colour"], call


if __name__ == "__main__":
    main(globals())
