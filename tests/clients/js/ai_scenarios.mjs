// What an application does with the AI SDK and its providers (OpenAI's chat and Responses models, any OpenAI-compatible server,
// Anthropic, Google), run through Idem.
// Environment: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL (Idem before a simulated engine), a key for each.
import assert from 'node:assert/strict';
import { newAsk, recorder, require, run, tool, twiceEqual } from './harness.mjs';

const record = recorder();
const { generateText, jsonSchema, streamText, tool: define } = require('ai');
const { openai } = require('@ai-sdk/openai');
const { createOpenAICompatible } = require('@ai-sdk/openai-compatible');
const { createAnthropic } = require('@ai-sdk/anthropic');
const { createGoogleGenerativeAI } = require('@ai-sdk/google');

const compatible = createOpenAICompatible({ name: 'own', baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY });
const anthropic = createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1`, apiKey: process.env.ANTHROPIC_API_KEY });
const google = createGoogleGenerativeAI({ baseURL: `${process.env.GOOGLE_GEMINI_BASE_URL}/v1beta`, apiKey: process.env.GEMINI_API_KEY });

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

const others = { openai_responses: openai.responses('simulated'), openai_compatible: compatible('simulated'), anthropic: anthropic('simulated'),
  google: google('simulated') };

// One scenario for each provider and form: the same call twice, and of an object its stream.
const ofProviders = Object.fromEntries(Object.entries(others).map(([name, model]) => [`provider_${name}`, async () => {
  const request = { ...usual(newAsk()), model };
  const whole = await twiceEqual(record, () => generate(request));
  assert.ok(whole.text);
  const another = { ...usual(newAsk()), model };
  const streamed = await twiceEqual(record, () => stream(another));
  assert.ok(streamed.text);
}]));

await run({
  ...ofProviders,

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
