import { expect, test } from '../e2e/support/test.ts';
import { keepPorts } from './support/ports.ts';

test('a script in the page gets nothing from the worker but the one call', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();

  const answers = await alice.page.evaluate(async () => {
    const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
    const ask = (message: object) =>
      new Promise((resolve) => {
        const id = crypto.randomUUID();
        for (const port of stolenPorts) {
          port.addEventListener('message', ({ data }) => data?.id === id && resolve(data.value));
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
          port.postMessage({ id, ...message });
        }
      });
    const raw = (value: unknown) => ({ type: 'RAW', value });
    const toPrototype = ['constructor', 'prototype'];
    return Promise.all([
      ask({ type: 'GET', path: ['constructor'] }),
      ask({ type: 'SET', path: [...toPrototype, 'polluted'], value: raw(1) }),
      ask({
        type: 'APPLY',
        path: [...toPrototype, '__defineSetter__'],
        argumentList: [raw('accountSeed'), raw(null)],
      }),
      ask({ type: 'CONSTRUCT', path: ['call', 'constructor'], argumentList: [raw('return 1')] }),
      ask({ type: 'ENDPOINT', path: [] }),
    ]);
  });
  for (const answer of answers) expect(answer).toEqual({ ok: false, code: 'usage', detail: 'message' });
  await alice.page.reload();
  await alice.onDashboard();
});

test('what the worker’s programs are made of is frozen', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  const started = alice.page.waitForEvent('worker');
  await alice.signUp();
  const worker = await started;
  const changeable = await worker.evaluate(() => {
    const pausing = [async () => {}, function* () {}, async function* () {}];
    const reached: [string, object][] = [
      ...Object.entries({
        Object,
        Function,
        Array,
        Promise,
        Map,
        Set,
        JSON,
        Reflect,
        Uint8Array,
        Error,
        RegExp,
      }),
      ...[
        {},
        [],
        () => {},
        Promise.resolve(),
        new Map(),
        new Uint8Array(0),
        /x/,
        '',
        new Error('x'),
        ...pausing,
      ].map((value, at): [string, object] => [`prototype ${at}`, Object.getPrototypeOf(value)]),
      ['an iterator', Object.getPrototypeOf([][Symbol.iterator]())],
      ['every iterator', Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))],
      ['every list of numbers', Object.getPrototypeOf(Uint8Array)],
      ['toString', Reflect.get(Object.prototype, 'toString')],
    ];
    return reached.filter(([, value]) => !Object.isFrozen(value)).map(([name]) => name);
  });
  expect(changeable).toEqual([]);
});
