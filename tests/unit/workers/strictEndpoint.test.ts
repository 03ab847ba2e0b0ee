import { expose, proxy, wrap } from 'comlink';
import { afterEach, describe, expect, it } from 'vitest';
import { strictEndpoint } from '#workers/entry/strictEndpoint.ts';

/** A door as the worker has it, its page's side in the hands of whoever runs there. */
function openDoor() {
  const { port1: page, port2: worker } = new MessageChannel();
  const calls: { method: string; args: unknown[] }[] = [];
  const exposed = {
    secret: { seed: 'the account seed' },
    call: async (method: string, args: unknown[]): Promise<unknown> => {
      calls.push({ method, args });
      if (method === 'fail') throw new Error('the text of a message');
      if (method === 'proxy') return proxy({ secret: 'the account seed' });
      return { ok: true, value: method };
    },
  };
  expose(exposed, strictEndpoint(worker));
  let answers: unknown[] = [];
  let settle: (answered: unknown[]) => void = () => undefined;
  page.addEventListener('message', ({ data }) => {
    if (data.id === 'after') settle(answers);
    else answers.push(data);
  });
  page.start();
  /** Resolves with what is answered, once a call made after it has been. */
  function send(message: unknown, transfer: Transferable[] = []): Promise<unknown[]> {
    answers = [];
    return new Promise((resolve) => {
      settle = resolve;
      page.postMessage(message, transfer);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
      page.postMessage({ id: 'after', ...application('after', []) });
    });
  }
  return { calls, exposed, page, send };
}

const twice = (value: unknown) => [value, value];
const raw = (value: unknown) => ({ type: 'RAW', value });
const application = (method: unknown, args: unknown) => ({
  type: 'APPLY',
  path: ['call'],
  argumentList: [raw(method), raw(args)],
});
const refused = { id: 'x', type: 'RAW', value: { ok: false, code: 'usage', detail: 'message' } };

describe('the endpoint of the worker', () => {
  const doors: ReturnType<typeof openDoor>[] = [];
  function open() {
    const door = openDoor();
    doors.push(door);
    return door;
  }
  afterEach(() => {
    for (const { page } of doors.splice(0)) page.close();
  });

  it('lets a call through, and its answer back', async () => {
    const { calls, send } = open();
    expect(
      await send({ id: 'x', ...application('resume', ['id', { a: [1, null, undefined, true] }]) }),
    ).toEqual([{ id: 'x', type: 'RAW', value: { ok: true, value: 'resume' } }]);
    expect(calls[0]).toEqual({ method: 'resume', args: ['id', { a: [1, null, undefined, true] }] });
  });

  it('lets a piece of a file through, and nothing that was put on it', async () => {
    const { calls, send } = open();
    const piece = Object.assign(new ArrayBuffer(8 * 65_552), { extra: 1 });
    await send({ id: 'x', ...application('sealPiece', ['id', 0, piece]) });
    const [given] = calls[0]?.args.slice(2) ?? [];
    expect(given).toBeInstanceOf(ArrayBuffer);
    expect((given as ArrayBuffer).byteLength).toBe(8 * 65_552);
    expect(Object.keys(given as object)).toEqual([]);
  });

  it('serves the client that Comlink makes', async () => {
    const { page } = open();
    const client = wrap<{ call(method: string, args: unknown[]): Promise<unknown> }>(page);
    expect(await client.call('resume', ['id'])).toEqual({ ok: true, value: 'resume' });
  });

  const list = ['RAW', 'HANDLER'];
  it.each([
    ['reads a property', { type: 'GET', path: ['secret', 'seed'] }],
    ['reads the call', { type: 'GET', path: ['call'] }],
    ['reads without a path', { type: 'GET' }],
    ['sets a property', { type: 'SET', path: ['secret', 'seed'], value: raw('mine') }],
    ['sets the call', { type: 'SET', path: ['call'], value: raw('mine') }],
    ['sets a prototype', { type: 'SET', path: ['__proto__', 'polluted'], value: raw('mine') }],
    ['constructs', { type: 'CONSTRUCT', path: ['constructor'], argumentList: [raw('return 1')] }],
    ['asks for a port', { type: 'ENDPOINT' }],
    ['asks for a port of a path', { type: 'ENDPOINT', path: ['secret'] }],
    ['releases', { type: 'RELEASE' }],
    [
      'applies a setter of Object.prototype',
      { ...application('a', []), path: ['constructor', 'prototype', '__defineSetter__'] },
    ],
    ['applies call of call', { ...application('a', []), path: ['call', 'call'] }],
    ['applies bind of call', { ...application('a', []), path: ['call', 'bind'] }],
    ['applies with a path that is no list', { ...application('a', []), path: 'call' }],
    ['applies with a path of a list', { ...application('a', []), path: [['call']] }],
    ['applies to one argument', { type: 'APPLY', path: ['call'], argumentList: [raw('a')] }],
    [
      'applies to three arguments',
      { type: 'APPLY', path: ['call'], argumentList: [raw('a'), raw([]), raw(1)] },
    ],
    ['names a method by a list', application(['resume'], [])],
    ['names a method by nothing', application(undefined, [])],
    ['gives arguments that are no list', application('a', { length: 1, 0: 'x' })],
    ['gives a list that is all holes', application('a', Object.assign([], { length: 4_000_000_000 }))],
    ['gives bytes', application('a', [new Uint8Array(4)])],
    ['gives more bytes than a piece of a file has', application('a', [new ArrayBuffer(8 * 65_552 + 1)])],
    ['gives a piece of a file twice', application('a', twice(new ArrayBuffer(8 * 65_552)))],
    ['gives a Map', application('a', [new Map([['a', 1]])])],
    ['gives a Set', application('a', [{ b: new Set([1]) }])],
    ['gives a Date', application('a', [new Date(0)])],
    ['gives an expression', application('a', [/x/])],
    ['gives an error', application('a', [new Error('x')])],
    ['gives a boxed text', application('a', [Object('x')])],
    ['gives a big integer', application('a', [1n])],
    ['has a field more', { ...application('a', []), extra: 1 }],
    ['has an unknown type', { ...application('a', []), type: 'EVAL' }],
    ['has a type that is a list', { ...application('a', []), type: ['APPLY'] }],
    ...list.map((kind): [string, object] => [
      `gives a proxy as ${kind}`,
      { type: 'APPLY', path: ['call'], argumentList: [raw('a'), { type: kind, name: 'proxy', value: {} }] },
    ]),
    [
      'throws on arrival',
      {
        type: 'APPLY',
        path: ['call'],
        argumentList: [raw('a'), { type: 'HANDLER', name: 'throw', value: { isError: false, value: 1 } }],
      },
    ],
  ])('refuses a message that %s', async (_title, message) => {
    const { calls, exposed, send } = open();
    expect(await send({ id: 'x', ...message })).toEqual([refused]);
    expect(calls.map(({ method }) => method)).toEqual(['after']);
    expect(exposed.secret).toEqual({ seed: 'the account seed' });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('refuses arguments that end in themselves', async () => {
    const { send } = open();
    const circle: Record<string, unknown> = {};
    circle.again = circle;
    expect(await send({ id: 'x', ...application('a', [circle]) })).toEqual([refused]);
  });

  it('refuses a small message that would grow without end when it is copied', async () => {
    const { send } = open();
    let list: unknown[] = ['x'];
    for (let depth = 0; depth < 6; depth += 1) list = Array.from({ length: 60 }, () => list);
    expect(await send({ id: 'x', ...application('a', list) })).toEqual([refused]);
  });

  it('refuses a message that brings a port', async () => {
    const { send } = open();
    const { port1, port2 } = new MessageChannel();
    expect(await send({ id: 'x', ...application('a', []) }, [port2])).toEqual([refused]);
    expect(await send({ id: 'x', ...application('a', [port1]) }, [port1])).toEqual([refused]);
  });

  it.each([
    null,
    7,
    'text',
    [],
    {},
    { id: 7 },
    { id: null, ...application('a', []) },
    { type: 'GET', path: ['secret'] },
  ])('gives no answer to %j, which has no id', async (message) => {
    const { calls, send } = open();
    expect(await send(message)).toEqual([]);
    expect(calls.map(({ method }) => method)).toEqual(['after']);
  });

  it('builds what it lets through anew, without prototypes', async () => {
    const { calls, send } = open();
    await send({
      id: 'x',
      ...application('a', [JSON.parse('{"__proto__": {"polluted": 1}, "list": [{}]}')]),
    });
    const argument = calls[0]?.args[0] as { list: object[] };
    expect(Object.getPrototypeOf(argument)).toBeNull();
    expect(Object.getPrototypeOf(argument.list[0])).toBeNull();
    expect(Object.hasOwn(argument, '__proto__')).toBe(true);
  });

  it.each(['fail', 'proxy'])('lets out neither the text of an error nor a port: %s', async (method) => {
    const { send } = open();
    expect(await send({ id: 'x', ...application(method, []) })).toEqual([
      { id: 'x', type: 'RAW', value: { ok: false, code: 'internal', detail: 'message' } },
    ]);
  });

  it('lets nothing of a thousand random messages touch what is exposed', async () => {
    const { exposed, send, calls } = open();
    const before = exposed.call;
    const random = mulberry(20_261_123);
    for (let round = 0; round < 1000; round += 1) await send(randomMessage(random));
    expect(exposed.call).toBe(before);
    expect(exposed.secret).toEqual({ seed: 'the account seed' });
    expect(calls.every(({ method, args }) => typeof method === 'string' && Array.isArray(args))).toBe(true);
  });
});

/** A small generator with a seed, so that a failure can be repeated. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomMessage(random: () => number): unknown {
  const pick = <T>(...from: T[]): T => from[Math.floor(random() * from.length)] as T;
  const name = () =>
    pick('call', 'secret', 'seed', 'constructor', 'prototype', '__proto__', '__defineSetter__', 'bind');
  const wire = () => ({
    type: pick('RAW', 'HANDLER', 'x'),
    name: pick('proxy', 'throw', 'none'),
    value: pick<unknown>('resume', [], {}, { isError: true, value: { message: 'x' } }, [name()], null),
  });
  const several = <T>(make: () => T): T[] => Array.from({ length: Math.floor(random() * 4) }, make);
  return {
    id: pick<unknown>('x', 7, null, undefined),
    type: pick('GET', 'SET', 'APPLY', 'CONSTRUCT', 'ENDPOINT', 'RELEASE', 'x'),
    path: pick<unknown>(several(name), ['call'], name(), null),
    argumentList: pick<unknown>(several(wire), [raw('resume'), raw([])], null),
    value: wire(),
  };
}
