// What the scenarios of every SDK have in common.
//   usage: node FAMILY_scenarios.mjs FOLDER_WITH_NODE_MODULES [PART_OF_A_NAME]
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

/** Loads from the folder of the SDK under test. */
export const require = createRequire(path.resolve(process.argv[2], 'package.json'));
export const stamp = `${process.pid}-${Date.now()}`;

/** Status, X-Cache and the very bytes of an answer, over the SDK's own transport. */
export async function raw(promise) {
  const response = await promise.asResponse();
  return { status: response.status, cache: response.headers.get('x-cache'), body: Buffer.from(await response.arrayBuffer()).toString('latin1') };
}

/** Sends the request twice; the second is a hit with the same bytes. */
export async function twice(send) {
  const first = await raw(send());
  const second = await raw(send());
  assert.equal(first.status, 200);
  assert.equal(first.cache, 'MISS');
  assert.equal(second.cache, 'HIT');
  assert.equal(second.body, first.body);
  return first.body;
}

/**
 * For SDKs that do not show their transport: from here on a call handed to the result yields, beside its value, status,
 * X-Cache and the very bytes of the last answer that it fetched.
 */
export function recorder() {
  const fetches = globalThis.fetch;
  let last = null;
  globalThis.fetch = async (...request) => {
    const response = await fetches(...request);
    const body = response.clone().arrayBuffer().then((bytes) => Buffer.from(bytes).toString('latin1'), () => null);
    last = { status: response.status, cache: response.headers.get('x-cache'), body };
    return response;
  };
  return async (call) => {
    const value = await call();
    return { ...last, body: await last.body, value };
  };
}

/** With recorder()'s result: a call twice, the second a hit of which the library makes the same value; that value. */
export async function twiceEqual(record, call) {
  const first = await record(call);
  const second = await record(call);
  assert.deepEqual([first.status, first.cache, second.status, second.cache], [200, 'MISS', 200, 'HIT']);
  assert.deepEqual(second.value, first.value);
  return first.value;
}

let asks = 0;

/** A question that nobody has asked before. */
export const newAsk = () => `Question ${stamp}-${++asks}: why is the sky blue? "quoted" é 漢 🙂`;

/** A tool as OpenAI's API describes a function. */
export const tool = {
  name: 'paint', description: 'Paints the wall.',
  parameters: { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } }, required: ['colour'], additionalProperties: false },
};

export async function abortedStreams() {
  return (await (await fetch(process.env.PROVIDER_STATS + '/provider/stats')).json()).aborted_streams;
}

/** Runs the scenarios and ends the process. */
export async function run(scenarios) {
  const only = process.argv[3] ?? '';
  let passed = 0, failed = 0;
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!name.includes(only)) continue;
    try {
      await scenario();
      passed += 1;
      console.log(`  ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`  FAILED  ${name}\n${error.stack}`);
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed || !passed ? 1 : 0);
}
