// What an application does with the responses and the plain objects of the official SDK, run through Idem. Environment:
// OPENAI_BASE_URL (Idem before a simulated engine), OPENAI_API_KEY, DEAD_BASE_URL (Idem before nothing).
import assert from 'node:assert/strict';
import process from 'node:process';
import { raw, require, run, stamp, twice } from './harness.mjs';

const OpenAI = require('openai').OpenAI;
const client = new OpenAI();
const model = 'simulated';
let questions = 0;

/** A request that nobody has sent before. */
const ask = (extra = {}) => ({
  model, temperature: 0, input: `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂`, ...extra,
});

/** A response as it travels, without what the helpers add. */
const plain = (response) => JSON.parse(JSON.stringify(response, (key, value) => (/^(output_text|output_parsed|parsed|parsed_arguments)$/.test(key) ? undefined : value)));

/** What the SDK's own accumulator makes of a stream. */
const accumulate = async (request) => plain(await client.responses.stream({ ...request }).finalResponse());

/** An entry filled in one form answers the other form, and the SDK sees the same response both ways. */
async function bothForms(extra = {}) {
  const one = ask(extra);
  const response = await client.responses.create(one);
  const stream = await raw(client.responses.create({ ...one, stream: true }));
  assert.equal(stream.cache, 'HIT', 'a stream after an object');
  assert.match(stream.body, /event: response\.(completed|incomplete)\ndata: [^\n]*\n\n$/);
  assert.deepEqual(await accumulate(one), plain(response));

  const two = ask(extra);
  const accumulated = await accumulate(two);
  const again = await raw(client.responses.create(two));
  assert.equal(again.cache, 'HIT', 'an object after a stream');
  assert.deepEqual(plain(JSON.parse(Buffer.from(again.body, 'latin1').toString())), accumulated);
  assert.deepEqual(await accumulate(two), accumulated);
  return response;
}

/** Every text of a stream as its deltas bring it, which is what most applications show. */
async function shown(request) {
  let text = '', numbers = [];
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    numbers.push(event.sequence_number);
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  assert.deepEqual(numbers, numbers.map((_, i) => i));
  return text;
}

const tools = [{
  type: 'function', name: 'paint', description: 'Paints the wall.', strict: true,
  parameters: { type: 'object', properties: { colour: { type: 'string' }, coats: { type: 'integer' } }, required: ['colour', 'coats'], additionalProperties: false },
}];

const scenarios = {
  async response() {
    const request = ask();
    await twice(() => client.responses.create(request));
    const answer = await client.responses.create(request);
    assert.equal(answer.status, 'completed');
    assert.ok(answer.output_text.length > 0);
    assert.ok(answer.usage.input_tokens > 0);
  },

  async streaming() {
    const request = ask();
    await twice(() => client.responses.create({ ...request, stream: true }));
    const text = await shown(request);
    assert.equal((await client.responses.create(request)).output_text, text);
    const other = ask();
    assert.equal((await client.responses.create(other)).output_text, await shown(other), 'a stream made of an object');
  },

  async 'object and stream share an entry'() { await bothForms(); },

  async tools() {
    const extra = { tools, tool_choice: { type: 'function', name: 'paint' } };
    const request = ask(extra);
    await twice(() => client.responses.create(request));
    const response = await bothForms(extra);
    const [call] = response.output;
    assert.equal(call.name, 'paint');
    assert.equal(typeof JSON.parse(call.arguments).coats, 'number');
    const answered = ask({ tools, input: [{ role: 'user', content: `${stamp}-${++questions}` }, call, { type: 'function_call_output', call_id: call.call_id, output: 'done' }] });
    await twice(() => client.responses.create(answered));
  },

  async 'custom tools'() {
    const response = await bothForms({ tools: [{ type: 'custom', name: 'shout' }] });
    assert.equal(response.output[0].type, 'custom_tool_call');
  },

  async reasoning() {
    const response = await bothForms({ reasoning: { effort: 'low', summary: 'auto' } });
    assert.deepEqual(response.output.map((item) => item.type), ['reasoning', 'message']);
    await bothForms({ reasoning: { effort: 'low' }, tools });
  },

  async 'structured output'() {
    const schema = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'], additionalProperties: false };
    const response = await bothForms({ text: { format: { type: 'json_schema', name: 'wall', strict: true, schema } } });
    assert.equal(typeof JSON.parse(response.output_text).colour, 'string');
  },

  async limit() {
    const request = ask({ max_output_tokens: 16 });
    await twice(() => client.responses.create(request));
    const cut = ask({ max_output_tokens: 3 });
    await twice(() => client.responses.create(cut));
    assert.equal((await client.responses.create(cut)).incomplete_details.reason, 'max_output_tokens');
    assert.ok((await shown(cut)).length > 0);
  },

  async 'labels change nothing, storing does'() {
    const request = ask();
    assert.equal((await raw(client.responses.create({ ...request, metadata: { a: 'b' }, user: 'u' }))).cache, 'MISS');
    assert.equal((await raw(client.responses.create({ ...request, safety_identifier: 's', prompt_cache_key: 'k' }))).cache, 'HIT');
    assert.equal((await raw(client.responses.create({ ...request, store: false }))).cache, 'MISS');
  },

  async 'what the provider holds or runs is not cached'() {
    for (const extra of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { background: true }, { tools: [{ type: 'web_search' }] },
      { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, { tools: [{ type: 'mcp', server_label: 's', server_url: 'https://example.com' }] }]) {
      const request = ask(extra);
      for (let i = 0; i < 2; ++i) assert.equal((await raw(client.responses.create(request))).cache, 'BYPASS', JSON.stringify(extra));
    }
  },

  async moderations() {
    const request = { model: 'omni-moderation-latest', input: [`one ${stamp}`, `two ${stamp}`] };
    await twice(() => client.moderations.create(request));
    assert.equal((await client.moderations.create(request)).results.length, 2);
  },

  async images() {
    const request = { model: 'gpt-image-1', prompt: `a cat ${stamp}`, n: 2 };
    await twice(() => client.images.generate(request));
    assert.equal((await client.images.generate(request)).data.length, 2);
    const link = { model: 'dall-e-3', prompt: `a dog ${stamp}`, response_format: 'url' };
    assert.equal((await raw(client.images.generate(link))).cache, 'BYPASS');
  },

  async speech() {
    const answer = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: `hello ${stamp}` });
    assert.equal(answer.headers.get('x-cache'), 'BYPASS');
    assert.equal(Buffer.from(await answer.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
  },

  async 'errors of the gateway'() {
    const dead = new OpenAI({ baseURL: process.env.DEAD_BASE_URL, maxRetries: 0 });
    for (const request of [ask(), ask({ stream: true }), ask({ background: true })]) {
      await assert.rejects(dead.responses.create(request), (error) => {
        assert.ok(error instanceof OpenAI.InternalServerError, String(error));
        assert.ok(error.code, 'the reason is the code');
        return true;
      });
    }
  },
};

await run(scenarios);
