import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { sent } from '#relay/test/parts.ts';
import { ApiError } from '#src/net/errors.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { Random } from './seams/random.ts';
import { pass } from './seams/time.ts';
import { codeOf } from './world/codes.ts';
import { Invariants, type Snapshot } from './world/invariants.ts';
import { judge } from './world/lies/judge.ts';
import { type Lie, lies, noticesOf } from './world/lies/lies.ts';
import { ofAccount, sayOf } from './world/lies/noticed.ts';
import { Line } from './world/network.ts';
import { Nonces } from './world/nonces.ts';
import type { Seat } from './world/people.ts';
import { Points } from './world/points.ts';
import { Trace } from './world/trace.ts';
import { faultOfTimer, faultsOfHeld, type Wish } from './world/wishes.ts';

const PLACE = 'direct:anna:bert';

type Device = Snapshot['devices'][number];
type Conversation = Device['conversations'][number];

const texts = new Map([
  ['one', 0],
  ['two', 0],
]);

const nothingElse = { earlyTexts: new Set<string>(), drafts: new Map<string, string>() };

function device(name: string, changes: Partial<Conversation> = {}): Device {
  const conversation: Conversation = {
    conversationId: PLACE,
    isMember: true,
    epoch: 2,
    authenticator: 'a2',
    agreed: '[0,[]]',
    timer: 0,
    memberDeviceIds: ['anna-1', 'bert-1'],
    joinedSeq: 1,
    lastSeq: 4,
    isDoubted: false,
    messages: [
      { seq: 2, messageId: 'm2' },
      { seq: 4, messageId: 'm4' },
    ],
    findings: [],
    ...changes,
  };
  return { name, deviceId: name, conversations: [conversation], texts, ...nothingElse };
}

const entries = [
  { id: 'c1', seq: 1, kind: 'commit' },
  { id: 'm2', seq: 2, kind: 'application' },
  { id: 'c3', seq: 3, kind: 'commit' },
  { id: 'm4', seq: 4, kind: 'application' },
] as const;
const log = { epoch: 2, entries };
const shown = [
  { seq: 2, messageId: 'm2', text: 'one' },
  { seq: 4, messageId: 'm4', text: 'two' },
  { seq: null, messageId: 'm5', text: 'waits' },
];

/** Two devices that have read a log of four entries. */
function world(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    devices: [device('anna-1'), device('bert-1')],
    logs: new Map([[PLACE, log]]),
    kept: [{ text: 'one', name: 'anna-1' }],
    screens: [{ name: 'anna-1', conversationId: PLACE, messages: shown }],
    ...changes,
  };
}
const withBert = (changes: Partial<Conversation>) =>
  world({ devices: [device('anna-1'), device('bert-1', changes)] });
const withLog = (changed: readonly (typeof entries)[number][], epoch = 2) =>
  world({ logs: new Map([[PLACE, { epoch, entries: changed }]]) });
const withScreen = (messages: typeof shown) =>
  world({ screens: [{ name: 'anna-1', conversationId: PLACE, messages }] });

let invariants: Invariants;
beforeEach(() => {
  invariants = new Invariants();
});

describe('the invariants of a simulated world', () => {
  it('hold where everybody has what the log has, and as it grows', () => {
    const later = [...entries, { id: 'm5', seq: 5, kind: 'application' }] as const;
    expect(invariants.faultsOf(world())).toEqual([]);
    expect(invariants.faultsOf(world())).toEqual([]);
    expect(invariants.faultsOf(world({ logs: new Map([[PLACE, { epoch: 2, entries: later }]]) }))).toEqual(
      [],
    );
    expect(invariants.compared).toBeGreaterThan(0);
  });

  it.each<readonly [string, Snapshot, RegExp]>([
    ['other secrets in one epoch', withBert({ authenticator: 'b2' }), /other secrets than anna-1 in epoch 2/],
    [
      'another timer, or other pins, in one epoch',
      withBert({ agreed: '[30,[]]' }),
      /other agreements than anna-1/,
    ],
    ['an epoch that has not begun', withBert({ epoch: 3, authenticator: 'a3' }), /has not begun/],
    ['more read than there is', withBert({ lastSeq: 5 }), /read further than the log/],
    [
      'a message that was passed over',
      withBert({ messages: [{ seq: 4, messageId: 'm4' }] }),
      /past 2 without/,
    ],
    [
      "messages in each other's places",
      withBert({
        messages: [
          { seq: 2, messageId: 'm4' },
          { seq: 4, messageId: 'm2' },
        ],
      }),
      /another message at 2/,
    ],
    [
      'a message stored twice',
      withBert({
        messages: [
          { seq: 2, messageId: 'm2' },
          { seq: 3, messageId: 'm2' },
          { seq: 4, messageId: 'm4' },
        ],
      }),
      /has a message twice/,
    ],
    ['an alarm', withBert({ findings: ['diverged'] }), /a false alarm: bert-1: diverged/],
    ['doubt', withBert({ isDoubted: true }), /a false alarm: bert-1: doubt/],
    ['a lost text', world({ kept: [{ text: 'three', name: 'anna-1' }] }), /anna-1 has lost "three"/],
    ['an entry that is gone', withLog([entries[0], entries[1], entries[2]], 2), /read further/],
    ['a gap in the log', withLog([entries[0], entries[1], entries[3]]), /not in a row/],
    [
      'an entry twice',
      withLog([...entries, { ...entries[3], seq: 5 } as never]),
      /in direct:anna:bert twice/,
    ],
    ['a screen out of order', withScreen([shown[1]!, shown[0]!]), /out of order/],
    [
      'a message shown twice',
      withScreen([...shown, { ...shown[2]!, text: 'otherwise' }]),
      /shows a message of/,
    ],
    ['a text shown twice', withScreen([...shown, { ...shown[2]!, messageId: 'm6' }]), /shows a message of/],
  ])('name %s', (_what, snapshot, fault) => {
    expect(invariants.faultsOf(snapshot)).toEqual(expect.arrayContaining([expect.stringMatching(fault)]));
  });

  it('compare with an epoch that was left since', () => {
    invariants.faultsOf(world());
    const alone = world({ devices: [device('bert-1', { authenticator: 'b2' })] });
    expect(invariants.faultsOf(alone)).toEqual([expect.stringMatching(/other secrets than anna-1/)]);
  });

  it('name a log whose entries were exchanged', () => {
    invariants.faultsOf(world({ devices: [] }));
    const exchanged = withLog([entries[0], { ...entries[1], id: 'x2' } as never, entries[2], entries[3]]);
    expect(invariants.faultsOf({ ...exchanged, devices: [] })).toEqual([
      expect.stringMatching(/gone or moved/),
    ]);
  });

  it('name a copy that reads on without its device, and not one of before', () => {
    invariants.faultsOf(withBert({}));
    const copy = { name: 'bert-2', deviceId: 'bert-2' };
    const read = [{ conversationId: PLACE, epoch: 2, text: 'two' }];
    expect(invariants.faultsOfCopy(copy, read)).toEqual([
      expect.stringMatching(/a copy of bert-2's storage/),
    ]);
    expect(invariants.faultsOfCopy({ ...copy, deviceId: 'bert-1' }, read)).toEqual([]);
  });
});

describe('what people have set', () => {
  const anna = { name: 'anna' } as unknown as Seat;
  const phone = { name: 'phone' } as unknown as Seat;
  const wish = (value: string, begunAt: number, changes: Partial<Wish> = {}): Wish => ({
    about: 'timer',
    value,
    seat: anna,
    conversationId: PLACE,
    isKept: true,
    mayBeLost: false,
    begunAt,
    doneAt: begunAt + 1,
    deviceId: null,
    ownSeq: 0,
    ...changes,
  });
  const heldAs = (...values: string[]) => values.map((value, at) => ({ where: `device ${at}`, value }));

  it('is fine where all have what was wished last', () => {
    expect(faultsOfHeld('timer', [wish('30', 1), wish('60', 5)], heldAs('60', '60'), '0')).toEqual([]);
    expect(faultsOfHeld('timer', [wish('30', 1)], [], '0')).toEqual([]);
  });

  it.each<readonly [string, readonly Wish[], readonly string[], RegExp]>([
    ['two devices differ', [wish('30', 1)], ['30', '0'], /"30" for device 0, and "0" for device 1/],
    ['a wish is lost', [wish('30', 1)], ['0', '0'], /is "0", not "30"/],
    ['an older one came back', [wish('30', 1), wish('60', 5)], ['30'], /is "30", not "60"/],
    ['it is what nobody wished', [wish('30', 1, { isKept: false })], ['90'], /is "90", which nobody wished/],
  ])('is a fault where %s', (_what, wishes, values, fault) => {
    expect(faultsOfHeld('timer', wishes, heldAs(...values), '0')).toEqual([expect.stringMatching(fault)]);
  });

  it.each<readonly [string, readonly Wish[]]>([
    ['may be lost', [wish('30', 1, { mayBeLost: true })]],
    ['has failed', [wish('30', 1, { isKept: false, doneAt: null })]],
    ['met another', [wish('0', 1), wish('30', 1)]],
    ['came from another device', [wish('0', 1), wish('30', 5, { seat: phone })]],
  ])('may be as it was where the wish %s', (_what, wishes) => {
    expect(faultsOfHeld('timer', wishes, heldAs('0'), '0')).toEqual([]);
  });
});

describe('the time of a text', () => {
  const late = (seconds: number) => `"one" left with ${seconds} s, not with the 30 s of its conversation`;

  it.each([
    ['is that of its conversation', 30, 30, 30, null],
    ['is none, where its conversation has one', 30, 30, 0, late(0)],
    ['is another than that of its conversation', 30, 30, 120, late(120)],
    ['is not told where the conversation was given another one meanwhile', 30, 0, 30, null],
    ['is not told of what is gone', 30, 30, undefined, null],
  ])('%s', (_what, before, after, taken, fault) => {
    expect(faultOfTimer('one', before, after, taken)).toBe(fault);
  });
});

describe('how a lie was taken', () => {
  const garbage = ['damaged', 'unknown-device', 'rules'];
  const told = (lie: Lie, byVictim: readonly string[], byOthers: readonly string[]) =>
    judge({ lie, byVictim, byOthers });
  const ofLog = ['drop', 'reorder', 'replace', 'replay', 'invent', 'fork', 'rename'] as const;
  const knowable = lies.filter((lie) => noticesOf(lie).byVictim.length > 0);

  it.each(ofLog)('is fine where both sides are shown that logs differ: %s', (lie) => {
    const victim = lie === 'drop' ? 'missing' : 'diverged';
    expect(told(lie, [victim, 'damaged'], ['doubt', 'diverged'])).toEqual([]);
  });

  it.each(ofLog)('is a fault where one side is shown what garbage shows: %s', (lie) => {
    const victim = lie === 'drop' ? 'missing' : 'diverged';
    expect(told(lie, garbage, ['diverged'])).toEqual([
      expect.stringContaining(`not noticed: ${lie}, by whom it was told to: `),
    ]);
    expect(told(lie, [victim], garbage)).toEqual([expect.stringMatching(/by the others: diverged expected/)]);
    expect(told(lie, [], [])).toHaveLength(2);
  });

  it.each(knowable)('is a fault where somebody is shown something else: %s', (lie) => {
    expect(told(lie, ['older vault', 'changed key', 'withheld'], ['doubt']).length).toBe(
      ['vaultRollback', 'inventedKey', 'expire'].includes(lie) ? 0 : noticesOf(lie).byOthers.length + 1,
    );
  });

  it('has to be noticed in its conversation, of the device that it was told to or that wrote what was left out', () => {
    const about = { conversationId: PLACE, onVictim: () => 'bert-1', victimDeviceId: 'anna-1' };
    const missing = { what: 'missing', conversationId: PLACE, of: 'bert-1' };
    const diverged = { what: 'diverged', conversationId: PLACE, of: 'anna-1' };
    expect(sayOf(missing, about, true)).toBe('missing');
    expect(sayOf({ ...missing, of: 'carl-1' }, about, true)).toBe('missing, of another');
    expect(sayOf({ ...missing, conversationId: 'direct:anna:carl' }, about, true)).toBe('missing, elsewhere');
    expect(sayOf(diverged, about, false)).toBe('diverged');
    expect(sayOf({ ...diverged, of: 'carl-1' }, about, false)).toBe('diverged, of another');
    expect(sayOf(diverged, { ...about, onVictim: () => null }, true)).toBe('diverged, of another');
    expect(
      sayOf(
        { what: 'changed key', conversationId: null, of: 'carl' },
        { ...ofAccount, onVictim: () => 'bert' },
        true,
      ),
    ).toBe('changed key, of another');
  });

  it('needs no notice that nobody could have, and no belief', () => {
    const unknowable = lies.filter((lie) => !knowable.includes(lie));
    expect(unknowable).toEqual(['withhold', 'lastResort', 'forgedReceipts']);
    for (const lie of unknowable) expect(told(lie, [], [])).toEqual([]);
    expect(judge({ lie: 'forgedReceipts', byVictim: [], byOthers: [], isBelieved: true })).toEqual([
      'believed: forgedReceipts',
    ]);
  });
});

describe('a failure in a simulated world', () => {
  it('has its code of the closed set', () => {
    expect(codeOf(new CryptoApiError('storage'))).toBe('storage');
    expect(codeOf(new ApiError({ status: 409, code: 'stale-epoch', detail: null }))).toBe('stale-epoch');
  });

  it.each([
    ['no code', new Error('x')],
    ['a bug', new CryptoApiError('internal')],
    ['a code of the machine', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['a number', new DOMException('x', 'AbortError')],
    ['no error', 'storage'],
  ])('is a fault with %s', (_what, error) => {
    expect(codeOf(error)).toBeNull();
  });
});

/** The requests and publications by which ciphertexts leave a browser, beside messages and commits. */
const outgoing: Record<string, (line: Line, sealed: Buffer) => Promise<unknown>> = {
  'a receipt': (line, sealed) =>
    put(line, '/conversations/direct:a:b/receipt', { epoch: 1, position: 2, sealed: wire(sealed) }),
  'a copy of a message': (line, sealed) =>
    put(line, '/history', { items: [{ id: 'i', conversationId: 'direct:a:b', sealed: wire(sealed) }] }),
  "the account's state": (line, sealed) =>
    put(line, '/account-state', { version: 1, sealed: wire(sealed), segments: [] }),
  'a segment of it': (line, sealed) =>
    put(line, '/account-state', { version: 1, sealed: wire(Buffer.alloc(9)), segments: [wire(sealed)] }),
  "a group's name": (line, sealed) => put(line, '/group/g/name', { epoch: 1, sealedName: wire(sealed) }),
  'some of a file': (line, sealed) => deliver(line, 'PATCH', '/blobs/b', 'application/octet-stream', sealed),
  'a sign of writing': async (line, sealed) =>
    line.published(JSON.stringify({ type: 'typing', epoch: 1, content: wire(sealed) })),
};
const wire = (sealed: Buffer): string => sealed.toString('base64url');

async function deliver(line: Line, method: string, address: string, type: string, body: string | Buffer) {
  const init = { method, body: body as BodyInit, headers: { 'content-type': type } };
  const answered = line.fetch(`http://relay/api${address}`, init);
  await pass(1_000);
  return answered;
}

function put(line: Line, address: string, content: unknown) {
  const { body, type } = sent('PUT', address, content);
  return deliver(line, 'PUT', address, type, typeof body === 'string' ? body : Buffer.from(body));
}

describe('the watch over nonces', () => {
  const cipher = 'crypto_aead_chacha20poly1305_ietf_encrypt';

  async function encrypted(texts: readonly string[], nonces: readonly number[]) {
    const sodium = (await import('libsodium-wrappers')).default;
    const watch = new Nonces();
    await watch.watch();
    const key = new Uint8Array(32).fill(1);
    const sealed = texts.map((text, at) => {
      // The first four bytes are drawn for each message, and hide nothing.
      const nonce = new Uint8Array(12).fill(nonces[at] ?? 0).fill(at, 0, 4);
      return Buffer.from(sodium[cipher](text, null, null, nonce, key));
    });
    watch.end();
    return { watch, sealed };
  }

  it('sees a key that was used twice with one nonce, once both ciphertexts are out', async () => {
    const { sealed, watch } = await encrypted(['one', 'two'], [7, 7]);
    expect(watch.repeatedIn(sealed.slice(0, 1))).toBe(0);
    expect(watch.repeatedIn(sealed)).toBe(1);
  });

  it.each(Object.entries(outgoing))('sees it in %s that is sealed twice', async (_what, release) => {
    const { sealed, watch } = await encrypted(['read to 2', 'read to 3'], [7, 7]);
    const trace = new Trace();
    const accepting = { inject: async () => ({ statusCode: 204, headers: {}, rawPayload: Buffer.alloc(0) }) };
    const line = new Line(accepting as unknown as FastifyInstance, new Random('x'), trace, 'anna-1');
    await release(line, sealed[0]!);
    expect(watch.repeatedIn(trace.released)).toBe(0);
    await release(line, sealed[1]!);
    expect(watch.repeatedIn(trace.released)).toBe(1);
  });

  it('says nothing of two nonces', async () => {
    const { sealed, watch } = await encrypted(['one', 'two'], [7, 8]);
    expect(watch.repeatedIn(sealed)).toBe(0);
  });
});

describe('the points of a browser', () => {
  it('kill it once, at the one that was named, and are counted', () => {
    const killed: string[] = [];
    const points = new Points(() => killed.push('dead'));
    points.atPoint('disk');
    points.arm(3);
    for (const kind of ['disk', 'request', 'answer', 'socket'] as const) points.atPoint(kind);
    expect(killed).toEqual(['dead']);
    expect(points.disarm()).toBe('answer');
  });

  it('do nothing to a browser that has come to its end before', () => {
    const killed: string[] = [];
    const points = new Points(() => killed.push('dead'));
    points.arm(3);
    points.atPoint('disk');
    expect(points.disarm()).toBeNull();
    for (const kind of ['worker', 'worker'] as const) points.atPoint(kind);
    expect({ killed, reached: points.reached }).toEqual({ killed: [], reached: 1 });
  });
});
