// What an application does with the AI SDK and its OpenAI provider's chat model, run through Idem; configured by environment
// variables alone.
// Environment: OPENAI_BASE_URL (Idem before a simulated engine), OPENAI_API_KEY.
import assert from 'node:assert/strict';
import { newAsk, recorder, require, run, tool, twiceEqual } from './harness.mjs';

const record = recorder();
const { generateText, jsonSchema, streamText, tool: define } = require('ai');
const { openai } = require('@ai-sdk/openai');

const usual = (prompt) => ({ model: openai.chat('simulated'), system: 'Be brief.', prompt, temperature: 0, maxOutputTokens: 200, maxRetries: 0 });
const painting = (prompt) => ({
  ...usual(prompt), toolChoice: 'required',
  tools: { paint: define({ description: tool.description, inputSchema: jsonSchema(tool.parameters) }) },
});

async function comparable(result) {
  const [text, calls, finishReason, usage, response] = await Promise.all(
    [result.text, result.toolCalls, result.finishReason, result.usage, result.response]);
  return { text, calls: calls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })), finishReason, usage, id: response.id };
}

const generate = async (request) => comparable(await generateText(request));

async function stream(request) {
  const result = streamText({ ...request, onError() {} });
  let text = '';
  for await (const part of result.textStream) text += part;
  const whole = await comparable(result);
  assert.equal(whole.text, text);
  return whole;
}

await run({
  async generate_and_stream() {
    const request = usual(newAsk());
    const whole = await twiceEqual(record, () => generate(request));
    assert.ok(whole.text && whole.usage.totalTokens > 0);
    const streamed = await record(() => stream(request));
    assert.equal(streamed.cache, 'HIT', 'a stream after an object');
    assert.equal(streamed.value.text, whole.text);
  },

  async stream() {
    const request = usual(newAsk());
    const whole = await twiceEqual(record, () => stream(request));
    assert.ok(whole.text && whole.usage.totalTokens > 0);
  },

  async tools() {
    const request = painting(newAsk());
    const whole = await twiceEqual(record, () => generate(request));
    assert.equal(whole.calls[0].toolName, 'paint');
    assert.ok(whole.calls[0].input.colour);
  },

  async streamed_tools() {
    const request = painting(newAsk());
    const whole = await twiceEqual(record, () => stream(request));
    assert.equal(whole.calls[0].toolName, 'paint');
    assert.ok(whole.calls[0].input.colour);
  },
});
