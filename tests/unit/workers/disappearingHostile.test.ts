import { type Extension } from '@sinetti/crypto-core';
import {
  groupBindingExtension,
  MESSAGE_TIMER_EXTENSION,
  messageTimerExtension,
} from '@sinetti/crypto-core/account';
import {
  DISPOSITION,
  encodeMimiContent,
  type MimiContent,
  mimiMessageId,
} from '@sinetti/crypto-core/content';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '#workers/codec/limits.ts';
import { attachedPdf } from './support/attachedPdf.ts';
import { BOB, ALICE_AND_BOB as CHAT, DAY } from './support/device.ts';
import { createHour, HOUR, lines, pass, readHere, setTimer, sweep, syncAll } from './support/disappearing.ts';
import { kept, modifiedClient, OWN, revoke } from './support/ownDevices.ts';
import { Rogue } from './support/rogue.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const WEEKS = 28 * DAY;

const content = (expires: MimiContent['expires'], change: Partial<MimiContent> = {}) =>
  encodeMimiContent({
    salt: crypto.getRandomValues(new Uint8Array(16)),
    replaces: null,
    topicId: new Uint8Array(),
    expires,
    inReplyTo: null,
    extensions: new Map(),
    body: {
      kind: 'single',
      disposition: DISPOSITION.render,
      language: '',
      contentType: 'text/plain',
      content: new TextEncoder().encode('hei'),
    },
    ...change,
  });

/** A text of Bob's as he sends it, with the id by which he edits it. */
function named(text: string, time: number | null, replaces: Uint8Array | null = null) {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const body = {
    kind: 'single',
    disposition: DISPOSITION.render,
    language: '',
    contentType: 'text/plain',
    content: new TextEncoder().encode(text),
  } as const;
  const data = content(time === null ? null : { relative: true, time }, { salt, replaces, body });
  return {
    data,
    id: mimiMessageId({ sender: `sinetti:user/${BOB}`, room: `sinetti:room/${CHAT}` }, data, salt),
  };
}

describe('a sender that keeps no rules', () => {
  it.each([
    ['nothing less than the shortest', 1, 5000],
    ['what anybody may choose', 90, 90_000],
    ['nothing more than the longest', 366 * 86_400, WEEKS],
    ['nothing more than the longest, whatever it says', 2 ** 32 - 1, WEEKS],
  ])('gives its message %s', async (_what, time, span) => {
    const { alice, bob, world } = await createPairWithRogue();
    bob.send(CHAT, content({ relative: true, time }));
    await alice.sync();
    await readHere(alice);
    expect([await lines(alice), await sweep(alice)]).toEqual([['hei'], span]);
    await pass(world, span, alice);
    expect(await lines(alice)).toEqual([]);
  });

  it.each([
    ['no time', { relative: true, time: 0 }],
    ['a moment in the past', { relative: false, time: 1 }],
    ['a moment to come', { relative: false, time: 2 ** 32 - 1 }],
  ])('has a message that says %s shown as damaged', async (_what, expires) => {
    const { alice, bob } = await createPairWithRogue();
    bob.send(CHAT, content(expires));
    await alice.sync();
    await readHere(alice);
    expect([await lines(alice), await sweep(alice)]).toEqual([['(damaged)'], null]);
  });

  it.each([
    ['bounded, as long as it says more than the longest', { relative: true, time: 366 * 86_400 }, WEEKS],
    ['damaged, where it names a moment beyond a year', { relative: false, time: 2 ** 32 - 1 }, null],
  ])('has its file %s', async (_what, expires, span) => {
    const { alice, bob } = await createPairWithRogue();
    bob.send(CHAT, content(expires, { body: attachedPdf }));
    await alice.sync();
    await readHere(alice);
    const kinds = (await alice.history(CHAT)).map((message) => message.content.kind);
    expect([kinds, await sweep(alice)]).toEqual([[span === null ? 'undecryptable' : 'files'], span]);
  });

  const timer = (...bytes: number[]): Extension => ({
    type: MESSAGE_TIMER_EXTENSION,
    data: Uint8Array.from(bytes),
  });

  it.each<[string, readonly Extension[]]>([
    ['shorter than any', [timer(1, 0, 0, 0, 4)]],
    ['longer than any', [timer(1, 0xff, 0xff, 0xff, 0xff)]],
    ['of a later version', [timer(2, 0, 0, 0, 60)]],
    ['cut off', [timer(1, 0)]],
    ['beside another extension', [messageTimerExtension(60), groupBindingExtension({ creatorId: BOB })]],
  ])('finds nobody who follows it to a timer that is %s', async (_what, extensions) => {
    const { alice, bob } = await createPairWithRogue();
    bob.commit(CHAT, { extensions });
    const { lastSeq } = await alice.api.conversation(CHAT);
    const { events, state } = await alice.api.processEntries(CHAT, alice.relay.entries(CHAT, lastSeq));
    expect(state).toMatchObject({ status: 'forked', timer: 0 });
    expect(events).toMatchObject([{ change: { kind: 'refused' } }]);
  });

  it('brings no older words back by an edit with less time, and no newer ones past the time of their message', async () => {
    const { alice, bob, world } = await createPairWithRogue();
    const first = named('I owe you 100', HOUR / 1000);
    bob.send(CHAT, first.data);
    bob.send(CHAT, named('I owe you 5', 5, first.id).data);
    const untimed = named('Always 100', null);
    bob.send(CHAT, untimed.data);
    bob.send(CHAT, named('Always 5', 5, untimed.id).data);
    await alice.sync();
    await readHere(alice);
    const both = ['I owe you 5 (edited)', 'Always 5 (edited)'];
    expect(await lines(alice)).toEqual(both);
    await pass(world, 6000, alice);
    expect(await lines(alice)).toEqual(both);
    await pass(world, HOUR, alice);
    expect([await lines(alice), await sweep(alice)]).toEqual([['Always 5 (edited)'], null]);
  });

  it('takes no time by edits of edits, each with less time than the one before', async () => {
    const { alice, bob, world } = await createPairWithRogue();
    const chain = [named('0', 2_000_000)];
    for (let i = 0; i < 30; i += 1) chain.push(named(`${i}`, 10_000 - i, chain.at(-1)?.id));
    for (const { data } of chain) bob.send(CHAT, data);
    await alice.sync();
    await readHere(alice);
    const gets = vi.spyOn(IDBIndex.prototype, 'getAll');
    await pass(world, 3 * HOUR, alice);
    expect(gets.mock.calls.length).toBeLessThan(30 * 16);
    gets.mockRestore();
    // Edits that are further from the message go by themselves.
    expect(await lines(alice)).toEqual([`${limits.editsOfEdits - 1} (edited)`]);
  });

  it.each([
    ['that stay', null],
    ['of one time', HOUR / 1000],
  ])('loses and adds nothing by a chain of edits %s, each of the one before', async (_what, time) => {
    const { alice, bob, world } = await createPairWithRogue();
    const chain = [named('0', time)];
    for (let i = 1; i <= 15; i += 1) chain.push(named(`${i}`, time, chain.at(-1)?.id));
    for (const { data } of chain) {
      bob.send(CHAT, data);
      await alice.sync();
    }
    const { unread } = await alice.api.conversation(CHAT);
    const history = await alice.history(CHAT);
    expect([unread, await lines(alice)]).toEqual([1, ['15 (edited)']]);
    const versions = await alice.api.messageVersions(CHAT, history[0]?.messageId ?? '');
    expect(versions.map(({ text }) => text)).toEqual(chain.map((_one, i) => `${i}`));
    await readHere(alice);
    await pass(world, HOUR - 1000, alice);
    expect(await lines(alice)).toEqual(['15 (edited)']);
    await pass(world, 1000, alice);
    expect(await lines(alice)).toEqual(time === null ? ['15 (edited)'] : []);
    const tab = await alice.openTab();
    expect(await lines(tab)).toEqual(time === null ? ['15 (edited)'] : []);
  });

  it('has its message stay where that says no time, whatever the timer is', async () => {
    const { alice, bob, world } = await createPairWithRogue();
    bob.commit(CHAT, { extensions: [messageTimerExtension(60)] });
    bob.send(CHAT, content(null));
    await alice.sync();
    await readHere(alice);
    await pass(world, DAY, alice);
    expect((await alice.api.conversation(CHAT)).timer).toBe(60);
    expect(await lines(alice)).toEqual(['hei']);
  });

  it('changes no timer beside who is in the conversation', async () => {
    const { alice, bob, world } = await createPairWithRogue();
    const other = await Rogue.ofPerson(world.relay, alice.userId);
    bob.commit(CHAT, { extensions: [messageTimerExtension(60)], adds: [other] });
    const { lastSeq } = await alice.api.conversation(CHAT);
    const { state } = await alice.api.processEntries(CHAT, alice.relay.entries(CHAT, lastSeq));
    expect(state.status).toBe('forked');
  });

  it('finds no timer where a device knows of none', async () => {
    const { alice, bob } = await createPairWithRogue();
    bob.commit(CHAT, { leaf: { capabilities: { extensions: [0xf0a1] } } });
    await alice.sync();
    await expect(setTimer(alice, CHAT, 60)).rejects.toMatchObject({ code: 'invalid-proposal' });
    expect((await alice.api.conversation(CHAT)).timer).toBe(0);
  });
});

describe('the word of another own device', () => {
  const reading = (change: object) =>
    JSON.stringify({
      v: 1,
      type: 'own-state',
      reads: [],
      drafts: [],
      readings: [{ conversationId: CHAT, seq: 9, at: 1, ...change }],
    });

  async function createPlay() {
    const { alice, bob, phone, world } = await createHour();
    const rogue = await modifiedClient(world);
    await syncAll(alice, phone);
    await bob.send(CHAT, 'For you.');
    await alice.sync();
    return { alice, bob, phone, rogue, world, now: world.clock.now() };
  }

  it('gives no message more than its time from when it is heard', async () => {
    const { alice, now, rogue, world } = await createPlay();
    rogue.send(OWN, reading({ at: now + 365 * DAY }));
    await alice.sync();
    expect(await sweep(alice)).toBe(HOUR);
    await pass(world, HOUR, alice);
    expect(await lines(alice)).toEqual([]);
  });

  it('counts by the earlier of two', async () => {
    const { alice, now, rogue, world } = await createPlay();
    await pass(world, HOUR / 2, alice);
    await readHere(alice);
    rogue.send(OWN, reading({ at: now }));
    await alice.sync();
    expect(await sweep(alice)).toBe(HOUR / 2);
    rogue.send(OWN, reading({ at: now + HOUR }));
    await alice.sync();
    expect(await sweep(alice)).toBe(HOUR / 2);
  });

  it('has nobody lose what the relay had later, or what is still to come', async () => {
    const { alice, bob, rogue, world } = await createPlay();
    rogue.send(OWN, reading({ seq: Number.MAX_SAFE_INTEGER, at: 1 }));
    await alice.sync();
    expect([await lines(alice), await sweep(alice)]).toEqual([['For you.'], HOUR]);
    await revoke(alice, rogue);
    await pass(world, HOUR / 2, alice);
    await syncAll(alice, bob);
    await bob.send(CHAT, 'And this.');
    await alice.sync();
    await pass(world, HOUR / 2, alice);
    expect([await lines(alice), await sweep(alice)]).toEqual([['And this.'], null]);
  });

  it('is refused where it breaks the rules, and from a revoked one', async () => {
    const { alice, rogue, now } = await createPlay();
    const others = [{ seq: 0 }, { at: -1 }, { at: 9e15 }, { conversationId: `direct:${BOB}:${BOB}` }];
    for (const change of others) rogue.send(OWN, reading(change));
    rogue.send(OWN, reading({ at: now }));
    await revoke(alice, rogue);
    await alice.sync();
    expect([await lines(alice), await sweep(alice)]).toEqual([['For you.'], null]);
    expect(await kept(alice, ['heads'])).not.toContain('"at"');
  });
});
