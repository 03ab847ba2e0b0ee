import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createOwnState, type OwnState } from '#src/services/account/ownState.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { chatsAtom, emptyChat, groupKeyOf } from '#src/store/chats.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { me, received, type TestDeps, testDeps } from './support/deps.ts';

const bert = 'b0000000-0000-4000-8000-000000000009';
const conversationId = [me, bert].sort().join(':');
const withBert = `direct:${conversationId}`;
const tellOwnDevices = vi.fn<CryptoApi['tellOwnDevices']>();
const outbox = vi.fn<CryptoApi['outbox']>();
const flush = vi.fn<(id: string) => Promise<void>>();
const moveReadPosition = vi.fn<(id: string, seq: number) => Promise<void>>();
let deps: TestDeps;
let own: OwnState;

const type = (text: string) => deps.store.set(draftsAtom, (all) => ({ ...all, [bert]: text }));
const draft = () => deps.store.get(draftsAtom)[bert] ?? '';
const untold = { conversationId: `self:${me}`, content: { kind: 'unknown' } } as const;
const said = (text: string) => ({ reads: [], drafts: [{ conversationId: withBert, text }] });

beforeEach(() => {
  vi.resetAllMocks();
  tellOwnDevices.mockResolvedValue(true);
  outbox.mockResolvedValue([]);
  deps = testDeps({ crypto: { outbox, tellOwnDevices } });
  own = createOwnState(
    {
      deps,
      ownUserId: me,
      sync: { moveReadPosition },
      outbox: { flush },
      background: createBackground(deps.log),
    },
    {},
  );
});

describe('what own devices are told', () => {
  it('is at most one message a second, and none where nothing changed', async () => {
    for (const text of ['H', 'Ha', 'Hal']) type(text);
    deps.sessionEvents.emit('readHere', { conversationId: withBert, seq: 4 });
    await deps.clock.advance(timings.ownStateGathering);
    expect(tellOwnDevices.mock.calls).toEqual([
      [{ ...said('Hal'), reads: [{ conversationId: withBert, seq: 4 }] }],
    ]);
    type('Hall');
    await deps.clock.advance(timings.ownStateSpacing - 1);
    expect(tellOwnDevices).toHaveBeenCalledOnce();
    await deps.clock.advance(1);
    await deps.clock.advance(timings.ownStateSpacing * 5);
    expect(tellOwnDevices.mock.calls.slice(1)).toEqual([[said('Hall')]]);
    expect(flush.mock.calls).toEqual([[`self:${me}`], [`self:${me}`]]);
  });

  it('leaves within a second of the change, or of the message before, and waits for no poll', async () => {
    expect(timings.ownStateSpacing + timings.ownStateGathering).toBeLessThan(timings.syncPolling);
    expect(timings.ownStateSpacing).toBeLessThanOrEqual(1_000);
    type('Hal');
    await deps.clock.advance(timings.ownStateSpacing);
    type('Hallo');
    await deps.clock.advance(timings.ownStateSpacing);
    expect(flush).toHaveBeenCalledTimes(2);
    expect(tellOwnDevices.mock.calls.at(-1)).toEqual([said('Hallo')]);
  });

  it('waits no longer where the machine’s clock is set back', async () => {
    type('Hal');
    await deps.clock.advance(timings.ownStateGathering);
    deps.clock.turnedBy = -3_600_000;
    type('Hallo');
    await deps.clock.advance(timings.ownStateSpacing);
    expect(tellOwnDevices.mock.calls).toEqual([[said('Hal')], [said('Hallo')]]);
  });

  it('is told again where that failed', async () => {
    tellOwnDevices.mockRejectedValueOnce(new NetworkError('timeout'));
    type('Hal');
    await deps.clock.advance(timings.ownStateGathering);
    outbox.mockResolvedValueOnce([received(1, { ...untold, status: 'failed' })]);
    await deps.clock.advance(timings.ownStateRetry);
    await deps.clock.advance(timings.ownStateRetry);
    expect(tellOwnDevices.mock.calls).toEqual([[said('Hal')], [said('Hal')], [{ reads: [], drafts: [] }]]);
    await deps.clock.advance(timings.ownStateRetry * 3);
    expect(tellOwnDevices).toHaveBeenCalledTimes(3);
  });

  it('is not told again because a note failed, which the person sees', async () => {
    type('Hal');
    const note = { conversationId: `self:${me}`, content: { kind: 'text', text: 'milk' } } as const;
    outbox.mockResolvedValueOnce([received(1, { ...note, status: 'failed' })]);
    await deps.clock.advance(timings.ownStateRetry * 3);
    expect(tellOwnDevices.mock.calls).toEqual([[said('Hal')]]);
  });

  it('is not what another tab has written, nor what was written here before that', async () => {
    type('Hal');
    deps.sessionEvents.emit('draftsTaken', { drafts: { [bert]: 'Hallo' } });
    type('Hallo');
    await deps.clock.advance(timings.ownStateGathering);
    expect(tellOwnDevices).toHaveBeenCalledExactlyOnceWith({ reads: [], drafts: [] });
  });

  it('is not what another device has said, nor anything after the session', async () => {
    await own.take(said('From the phone'));
    expect(draft()).toBe('From the phone');
    own.stop();
    type('');
    await deps.clock.advance(timings.ownStateSpacing * 5);
    expect(tellOwnDevices).not.toHaveBeenCalled();
  });
});

describe('a draft of another device', () => {
  it('waits for the end of the typing, and goes where that went on', async () => {
    type('Under the fingers');
    await deps.clock.advance(timings.ownStateSpacing);
    await own.take(said('One'));
    await own.take(said('Two'));
    expect(draft()).toBe('Under the fingers');
    await deps.clock.advance(timings.typingPause);
    expect(draft()).toBe('Two');
    type('Two and');
    await deps.clock.advance(timings.ownStateSpacing);
    await own.take(said('Three'));
    type('Two and a half');
    await deps.clock.advance(timings.typingPause * 2);
    expect(draft()).toBe('Two and a half');
  });

  it('in a group that has yet to come here is there once it has', async () => {
    const group = 'c0000000-0000-4000-8000-000000000001';
    const key = groupKeyOf(group);
    const inGroup = (text: string) =>
      own.take({ reads: [], drafts: [{ conversationId: `group:${group}`, text }] });
    await inGroup('Dear');
    await inGroup('Dear all');
    expect(deps.store.get(draftsAtom)[key]).toBeUndefined();
    deps.store.set(chatsAtom, (chats) => ({ ...chats, [key]: emptyChat }));
    expect(deps.store.get(draftsAtom)[key]).toBe('Dear all');
    await deps.clock.advance(timings.ownStateSpacing * 2);
    expect(tellOwnDevices).not.toHaveBeenCalledWith(expect.objectContaining({ drafts: [expect.anything()] }));
  });

  it('is dropped where this one is about to be told', async () => {
    type('Newer');
    await own.take(said('Older'));
    await deps.clock.advance(timings.typingPause * 2);
    expect(draft()).toBe('Newer');
  });
});
