// What an application does with the official SDK, run through Idem. The SDK is configured by its environment variables alone.
// Environment: ANTHROPIC_BASE_URL (Idem before a simulated engine), ANTHROPIC_API_KEY, PROVIDER_URL (Idem before
// support/provider.py), PROVIDER_STATS (its own address), DEAD_URL (Idem before nothing).
import assert from 'node:assert/strict';
import process from 'node:process';
import { abortedStreams, raw, require, run, stamp, twice } from './harness.mjs';

const Anthropic = require('@anthropic-ai/sdk').default;
const client = new Anthropic();
const model = 'simulated';
let questions = 0;

/** A request that nobody has sent before. */
const ask = (extra = {}) => ({
  model,
  max_tokens: 2048,
  messages: [{ role: 'user', content: `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂` }],
  ...extra,
});

/** A message as it travels, without the `parsed_output` that the helper adds. */
const plain = (message) => JSON.parse(JSON.stringify(message, (key, value) => (key === 'parsed_output' ? undefined : value)));

/** What the SDK's own accumulator makes of a stream. */
const accumulate = async (request) => plain(await client.messages.stream({ ...request }).finalMessage());

/** An entry filled in one form answers the other form, and the SDK sees the same message both ways. */
async function bothForms(extra = {}) {
  const one = ask(extra);
  const message = await client.messages.create(one);
  const stream = await raw(client.messages.create({ ...one, stream: true }));
  assert.equal(stream.cache, 'HIT', 'a stream after an object');
  assert.match(stream.body, /event: message_stop\ndata: [^\n]*\n\n$/);
  assert.deepEqual(await accumulate(one), plain(message));

  const two = ask(extra);
  const accumulated = await accumulate(two);
  const again = await raw(client.messages.create(two));
  // A stream is at its end before the store has answered: until then its flight can be joined.
  assert.ok(['HIT', 'COALESCED'].includes(again.cache), `an object after a stream: ${again.cache}`);
  assert.deepEqual(JSON.parse(Buffer.from(again.body, 'latin1').toString()), accumulated);
  assert.deepEqual(await accumulate(two), accumulated);
  return message;
}

const tools = [{
  name: 'paint', description: 'Paints the wall.',
  input_schema: { type: 'object', properties: { colour: { type: 'string' }, coats: { type: 'integer' } }, required: ['colour'] },
}];
const thinking = { type: 'enabled', budget_tokens: 1024 };

const scenarios = {
  async message() {
    const request = ask();
    await twice(() => client.messages.create(request));
    const answer = await client.messages.create(request);
    assert.equal(answer.type, 'message');
    assert.equal(answer.stop_reason, 'end_turn');
    assert.ok(answer.content[0].text.length > 0);
    assert.ok(answer.usage.input_tokens > 0);
  },

  async streaming() {
    const request = ask({ stream: true });
    await twice(() => client.messages.create(request));
    let text = '', stop = null, output = 0;
    for await (const event of await client.messages.create(request)) {
      if (event.type === 'content_block_delta') text += event.delta.text;
      if (event.type === 'message_delta') [stop, output] = [event.delta.stop_reason, event.usage.output_tokens];
    }
    assert.ok(text.length > 0);
    assert.equal(stop, 'end_turn');
    assert.ok(output > 1);
  },

  async 'object and stream share an entry'() { await bothForms(); },

  async tools() {
    const extra = { tools, tool_choice: { type: 'any' } };
    const request = ask(extra);
    await twice(() => client.messages.create(request));
    const message = await bothForms(extra);
    assert.equal(message.stop_reason, 'tool_use');
    assert.equal(message.content[0].name, 'paint');
    assert.equal(typeof message.content[0].input.coats, 'number');
    const answered = ask(extra);
    answered.messages.push({ role: 'assistant', content: message.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.content[0].id, content: 'done' }] });
    await twice(() => client.messages.create(answered));
  },

  async thinking() {
    const message = await bothForms({ thinking });
    assert.deepEqual(message.content.map((block) => block.type), ['thinking', 'text']);
    assert.ok(message.content[0].signature.length > 0);
    await bothForms({ thinking, tools });
  },

  async 'stop sequence and limit'() {
    const stopped = await bothForms({ stop_sequences: ['e'] });
    assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', 'e']);
    const limited = await bothForms({ max_tokens: 3 });
    assert.equal(limited.stop_reason, 'max_tokens');
  },

  async 'counting tokens'() {
    const { max_tokens, ...request } = ask({ system: 'Be kind.', tools });
    await twice(() => client.messages.countTokens(request));
    const count = await client.messages.countTokens(request);
    const message = await client.messages.create({ ...request, max_tokens });
    assert.equal(count.input_tokens, message.usage.input_tokens);
  },

  async 'beta messages'() {
    const request = ask({ betas: ['context-management-2025-06-27'] });
    await twice(() => client.beta.messages.create(request));
    const other = await raw(client.beta.messages.create({ ...request, betas: ['interleaved-thinking-2025-05-14'] }));
    assert.equal(other.cache, 'MISS', 'the set of betas is part of what is asked');
  },

  async 'prompt caching marks and user ids change nothing'() {
    const [{ content }] = ask().messages;
    const call = (extra, mark) => raw(client.messages.create({ ...ask(), messages: [{ role: 'user', content: [{ type: 'text', text: content, ...mark }] }], ...extra }));
    assert.equal((await call({ metadata: { user_id: 'a' } })).cache, 'MISS');
    assert.equal((await call({ metadata: { user_id: 'b' } }, { cache_control: { type: 'ephemeral' } })).cache, 'HIT');
    assert.equal((await call({ service_tier: 'auto' })).cache, 'HIT');
  },

  async 'the billing line of a coding agent changes nothing'() {
    const request = ask();
    const line = (nonce) => `x-anthropic-billing-header: cc_version=2.1.175.${nonce.slice(0, 3)}; cc_entrypoint=cli; cch=${nonce};`;
    const call = (nonce) => raw(client.messages.create({ ...request, system: [{ type: 'text', text: line(nonce) }, { type: 'text', text: 'You are an agent.' }] }));
    const first = await call('36ee5'), second = await call('0aaa9');
    assert.deepEqual([first.cache, second.cache], ['MISS', 'HIT']);
    assert.equal(second.body, first.body);
  },

  async 'tools of the provider are not cached'() {
    const request = ask({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
    for (let i = 0; i < 2; ++i) assert.equal((await raw(client.messages.create(request))).cache, 'BYPASS');
  },

  async 'each credential has its own answers'() {
    const request = ask();
    assert.equal((await raw(client.messages.create(request))).cache, 'MISS');
    assert.equal((await raw(new Anthropic({ apiKey: 'another-key' }).messages.create(request))).cache, 'MISS');
    assert.equal((await raw(client.messages.create(request))).cache, 'HIT');
  },

  async models() {
    const list = await client.models.list();
    assert.ok(list.data.some((item) => item.id === model));
  },

  async 'aborted stream'() {
    const it = new Anthropic({ baseURL: process.env.PROVIDER_URL });
    const request = { model: `endless-${stamp}`, max_tokens: 64, messages: [{ role: 'user', content: 'go on' }], stream: true };
    const before = await abortedStreams();
    let seen = 0;
    for await (const event of await it.messages.create(request)) {
      if (event.type === 'content_block_delta' && ++seen === 3) break;
    }
    assert.equal(seen, 3);
    const end = Date.now() + 10_000;
    while ((await abortedStreams()) <= before) assert.ok(Date.now() < end, 'the upstream was not told');
    const controller = new AbortController();
    const again = await it.messages.create(request, { signal: controller.signal }).asResponse();
    assert.equal(again.headers.get('x-cache'), 'MISS', 'a broken stream must not be stored');
    controller.abort();
  },

  async 'error classes'() {
    const it = new Anthropic({ baseURL: process.env.PROVIDER_URL, maxRetries: 0 });
    const classes = {
      400: Anthropic.BadRequestError, 401: Anthropic.AuthenticationError, 403: Anthropic.PermissionDeniedError, 404: Anthropic.NotFoundError,
      409: Anthropic.ConflictError, 422: Anthropic.UnprocessableEntityError, 429: Anthropic.RateLimitError, 500: Anthropic.InternalServerError,
      529: Anthropic.InternalServerError,
    };
    for (const [status, type] of Object.entries(classes)) {
      for (const stream of [false, true]) {
        const request = { model: `fail-${status}`, max_tokens: 64, messages: [{ role: 'user', content: 'x' }], stream };
        await assert.rejects(it.messages.create(request), (error) => {
          assert.ok(error instanceof type || (status === '529' && error instanceof Anthropic.APIError), `${status}: ${error}`);
          assert.equal(error.status, Number(status));
          assert.equal(error.error.error.message, `made to fail with ${status}`);
          assert.equal(error.requestID ?? error.request_id, `req-${status}`);
          return true;
        });
      }
    }
  },

  async 'retry after a refusal'() {
    const it = new Anthropic({ baseURL: process.env.PROVIDER_URL });
    const answer = await it.messages.create({ model: `busy-once-${stamp}`, max_tokens: 64, messages: [{ role: 'user', content: 'x' }] });
    assert.equal(answer.content[0].text, 'fine');
  },

  async 'errors of the gateway'() {
    const dead = new Anthropic({ baseURL: process.env.DEAD_URL, maxRetries: 0 });
    const calls = [ask(), ask({ stream: true }), ask({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })];
    for (const request of calls) {
      await assert.rejects(dead.messages.create(request), (error) => {
        assert.ok(error instanceof Anthropic.InternalServerError, String(error));
        assert.equal(error.error.type, 'error');
        assert.equal(error.error.error.type, 'api_error');
        assert.ok(error.error.error.code, 'the reason is the code');
        return true;
      });
    }
    const begun = Date.now();
    await assert.rejects(client.messages.create(ask(), { headers: { 'Cache-Control': 'only-if-cached' } }), (error) => {
      assert.equal(error.status, 504);
      assert.equal(error.error.error.type, 'timeout_error');
      return true;
    });
    assert.ok(Date.now() - begun < 400, 'x-should-retry: false keeps the SDK from trying again');
  },
};

await run(scenarios);
