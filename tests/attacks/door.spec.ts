import { expect, test } from '../e2e/support/test.ts';

/** Keeps a hold on the page's end of every channel, as a script that came before the page's own could. */
const keepPorts = () => {
  const stolenPorts: MessagePort[] = [];
  Object.assign(globalThis, { stolenPorts });
  globalThis.MessageChannel = class extends MessageChannel {
    constructor() {
      super();
      stolenPorts.push(this.port1);
    }
  };
};

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

test('a script in the page has the vault key wrapped for nobody without the password', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();
  const answers = await alice.page.evaluate(async () => {
    const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
    const call = (method: string, ...args: unknown[]) =>
      new Promise((resolve) => {
        const id = crypto.randomUUID();
        for (const port of stolenPorts) {
          port.addEventListener('message', ({ data }) => data?.id === id && resolve(data.value));
          const argumentList = [method, args].map((value) => ({ type: 'RAW', value }));
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
          port.postMessage({ id, type: 'APPLY', path: ['call'], argumentList });
        }
      });
    // Parameters of one's own are taken for what the relay would have said.
    const passwordParams = { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 };
    return [
      await call('createRecoveryKey'),
      await call('confirmRecoveryKey', { password: 'a guess', passwordParams }),
      await call('changePassword', {
        currentPassword: 'a guess',
        currentParams: passwordParams,
        newPassword: 'a password of the thief',
      }),
    ];
  });
  expect(answers).toEqual([
    { ok: true, value: { recoveryKey: expect.any(String) } },
    { ok: false, code: 'wrong-password', detail: '' },
    { ok: false, code: 'wrong-password', detail: '' },
  ]);
});
