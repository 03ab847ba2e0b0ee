import { expect, test } from '../e2e/support/test.ts';
import { keepPorts, strangeCalls, unconfirmedCalls } from './support/ports.ts';

test('a script in the page gets nothing from the worker but the one call', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();

  const answers = await alice.page.evaluate(strangeCalls);
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

test('a script in the page has nothing sealed, certified or signed that nobody has confirmed', async ({
  newBrowser,
}) => {
  const { person: alice, context } = await newBrowser('alice');
  await context.addInitScript(keepPorts);
  await alice.signUp();
  const answers = await alice.page.evaluate(unconfirmedCalls);
  expect(answers).toEqual(answers.map(() => ({ ok: false, code: 'usage', detail: expect.any(String) })));
  expect(answers).toHaveLength(8);
});
