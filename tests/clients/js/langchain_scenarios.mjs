// What an application does with LangChain's OpenAI chat model, run through Idem; configured by environment variables alone.
// Environment: OPENAI_BASE_URL (Idem before a simulated engine), OPENAI_API_KEY.
import assert from 'node:assert/strict';
import { newAsk, recorder, require, run, tool, twiceEqual } from './harness.mjs';

const record = recorder();
const { ChatOpenAI } = require('@langchain/openai');
const { HumanMessage, SystemMessage } = require('@langchain/core/messages');
const chat = new ChatOpenAI({ model: 'simulated', temperature: 0, maxTokens: 200, maxRetries: 0 });
const painter = chat.bindTools([{ type: 'function', function: tool }], { tool_choice: 'required' });

const messages = (ask) => [new SystemMessage('Be brief.'), new HumanMessage(ask)];

function comparable(message) {
  const { id, content, tool_calls, usage_metadata, response_metadata } = message;
  return JSON.parse(JSON.stringify({ id, content, tool_calls, usage_metadata, response_metadata }));
}

async function invoke(model, ask) {
  return comparable(await model.invoke(messages(ask)));
}

async function stream(model, ask) {
  let whole = null;
  for await (const chunk of await model.stream(messages(ask))) whole = whole ? whole.concat(chunk) : chunk;
  return comparable(whole);
}

await run({
  async invoke_and_stream() {
    const ask = newAsk();
    const message = await twiceEqual(record, () => invoke(chat, ask));
    assert.ok(message.content && message.usage_metadata.total_tokens > 0);
    const streamed = await record(() => stream(chat, ask));
    assert.equal(streamed.cache, 'HIT', 'a stream after an object');
    assert.equal(streamed.value.content, message.content);
  },

  async stream() {
    const ask = newAsk();
    const message = await twiceEqual(record, () => stream(chat, ask));
    assert.ok(message.content);
  },

  async tools() {
    const ask = newAsk();
    const message = await twiceEqual(record, () => invoke(painter, ask));
    assert.equal(message.tool_calls[0].name, 'paint');
    assert.ok(message.tool_calls[0].args.colour);
  },

  async streamed_tools() {
    const ask = newAsk();
    const message = await twiceEqual(record, () => stream(painter, ask));
    assert.equal(message.tool_calls[0].name, 'paint');
    assert.ok(message.tool_calls[0].args.colour);
  },
});
