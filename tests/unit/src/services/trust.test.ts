import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, ContactTrust, CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import type { CommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import type { AccountStates } from '#src/services/core/accountState.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { createTrust, type Trust } from '#src/services/people/trust.ts';
import { activeConversationAtom } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { trustAtom } from '#src/store/trust.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  conversationId,
  me,
  peer,
  refused,
  state,
  type TestDeps,
  testConfirmation,
  testDeps,
} from './support/deps.ts';

const number = '12345'.repeat(12);
const known: ContactTrust = {
  userId: peer,
  verifiedAt: null,
  keyOffered: false,
  name: null,
  changedAt: [],
};
const changed: ContactTrust = { ...known, changedAt: ['2026-03-01T12:00:00.000Z'] };

const api = {
  userDevices: vi.fn<Api['userDevices']>(),
  claimKeyPackages: vi.fn<Api['claimKeyPackages']>(),
};
const worker = {
  contactTrust: vi.fn<CryptoApi['contactTrust']>(),
  observeDevices: vi.fn<CryptoApi['observeDevices']>(),
  safetyNumbers: vi.fn<CryptoApi['safetyNumbers']>(),
  sealVerified: vi.fn<CryptoApi['sealVerified']>(),
  acceptAccountKey: vi.fn<CryptoApi['acceptAccountKey']>(),
  refuseAccountKey: vi.fn<CryptoApi['refuseAccountKey']>(),
  hasFormerDevices: vi.fn<CryptoApi['hasFormerDevices']>(),
  keyPackageSuites: vi.fn<CryptoApi['keyPackageSuites']>(async () => [0x004d]),
  usableKeyPackages: vi.fn<CryptoApi['usableKeyPackages']>(async (all) => [...all]),
  addMembers: vi.fn<CryptoApi['addMembers']>(),
  conversations: vi.fn<CryptoApi['conversations']>(),
};
const commitSubmitter = {
  submit: vi.fn<CommitSubmitter['submit']>(),
  settle: vi.fn<CommitSubmitter['settle']>(),
};
const accountStates = {
  read: vi.fn<AccountStates['read']>(),
  takeEcho: vi.fn<AccountStates['takeEcho']>(),
  forgetEchoes: vi.fn<AccountStates['forgetEchoes']>(),
  load: vi.fn<AccountStates['load']>(),
  replace: vi.fn<AccountStates['replace']>(),
};
const onReleased = vi.fn<(conversationId: string) => void>();
const catchUp = vi.fn<() => Promise<ReturnType<typeof state>>>();

let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;
let trust: Trust;

beforeEach(async () => {
  vi.resetAllMocks();
  api.userDevices.mockResolvedValue([{ id: 'theirs', certificate: 'Y2VydA' }]);
  worker.contactTrust.mockResolvedValue([known]);
  worker.observeDevices.mockResolvedValue(known);
  worker.conversations.mockResolvedValue([]);
  worker.safetyNumbers.mockResolvedValue({ current: number, offered: null });
  catchUp.mockResolvedValue(state());
  deps = testDeps({ api, crypto: worker });
  deps.sessionEvents.on('holdReleased', ({ conversationId: released }) => onReleased(released));
  confirmation = testConfirmation();
  trust = createTrust({
    deps,
    confirmation,
    accountStates,
    ownUserId: me,
    sync: { catchUp },
    commitSubmitter,
    background: createBackground(deps.log),
  });
  await trust.start();
});

const ofPeer = () => deps.store.get(trustAtom).get(peer);

describe('looking at who somebody is', () => {
  it('happens whenever their chat is opened', async () => {
    worker.observeDevices.mockResolvedValue({ ...known, keyOffered: true });
    expect(ofPeer()).toEqual(known);
    deps.store.set(activeConversationAtom, peer);
    await settled();
    expect(worker.observeDevices).toHaveBeenCalledWith(peer, ['Y2VydA']);
    expect(ofPeer()?.keyOffered).toBe(true);
    trust.stop();
    deps.store.set(activeConversationAtom, null);
    deps.store.set(activeConversationAtom, peer);
    await settled();
    expect(worker.observeDevices).toHaveBeenCalledOnce();
  });

  it('shows last what was read last', async () => {
    let answer: (trust: ContactTrust[]) => void = () => undefined;
    worker.contactTrust.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    worker.contactTrust.mockResolvedValue([{ ...known, keyOffered: true }]);
    const reloads = [trust.reload(), trust.reload()];
    await settled();
    answer([known]);
    await Promise.all(reloads);
    expect(ofPeer()?.keyOffered).toBe(true);
  });

  it('happens when a conversation met another key', async () => {
    worker.contactTrust.mockResolvedValue([{ ...known, keyOffered: true }]);
    deps.sessionEvents.emit('conversationsChanged', {
      states: [state({ status: 'forked', refusal: 'policy' })],
    });
    await settled();
    expect(ofPeer()?.keyOffered).toBe(false);
    deps.sessionEvents.emit('conversationsChanged', {
      states: [state({ status: 'forked', refusal: 'identity-changed' })],
    });
    await settled();
    expect(ofPeer()?.keyOffered).toBe(true);
  });
});

describe('safety numbers', () => {
  it('are there without the relay, if anything is known', async () => {
    api.userDevices.mockRejectedValue(new NetworkError('unreachable'));
    expect(await trust.safetyNumbers(peer)).toEqual({ current: number, offered: null });
  });

  it('are not there before the person has a device', async () => {
    worker.safetyNumbers.mockRejectedValue(Object.assign(new Error(), { code: 'unknown-person' }));
    await expect(trust.safetyNumbers(peer)).rejects.toMatchObject({
      message: 'This person has not signed in on any device yet.',
    });
  });
});

describe('marking somebody as verified', () => {
  it('goes through the account state by the password', async () => {
    deps.store.set(contactsAtom, (list) => ({
      ...list,
      items: [{ id: peer, username: 'bert', email: 'bert@example.org' }],
    }));
    accountStates.replace.mockImplementation(
      async (change) => void (await change({ sealed: 'b2xk', segments: [] })),
    );
    worker.sealVerified.mockResolvedValue({ sealed: 'bmV3', segments: [] });
    worker.contactTrust.mockResolvedValue([{ ...known, verifiedAt: '2026-03-01T12:00:00.000Z' }]);
    await trust.setVerified(peer, number, true);
    const mark = { userId: peer, safetyNumber: number, verified: true };
    expect(worker.sealVerified).toHaveBeenCalledWith({ sealed: 'b2xk', segments: [] }, mark);
    expect(confirmation.asked).toEqual([{ kind: 'mark-verified', target: 'bert', id: peer }]);
    expect(ofPeer()?.verifiedAt).not.toBeNull();
  });

  it('counts for nothing when the state could not be changed', async () => {
    accountStates.replace.mockRejectedValue(refused('stale-version'));
    await expect(trust.setVerified(peer, number, true)).rejects.toMatchObject({ code: 'stale-version' });
    expect(ofPeer()?.verifiedAt).toBeNull();
  });

  it('made on another device is shown once it was read', async () => {
    worker.contactTrust.mockResolvedValue([{ ...known, verifiedAt: '2026-03-01T12:00:00.000Z' }]);
    await trust.refresh();
    expect(accountStates.load).toHaveBeenCalledOnce();
    expect(ofPeer()?.verifiedAt).not.toBeNull();
  });
});

describe('a key that changed', () => {
  async function show(one: ContactTrust): Promise<void> {
    worker.contactTrust.mockResolvedValue([one]);
    await trust.reload();
  }

  it('keeps messages to that person waiting, and no others', async () => {
    await show({ ...known, keyOffered: true });
    expect(await trust.maySend(conversationId)).toBe('held');
    expect(await trust.maySend(`group:${peer}`)).toBe('yes');
    await show(known);
    expect(await trust.maySend(conversationId)).toBe('yes');
    expect(worker.hasFormerDevices).not.toHaveBeenCalled();
  });

  it.each([
    ['accept', 'acceptAccountKey'],
    ['refuse', 'refuseAccountKey'],
  ] as const)('lets them go on the decision to %s it', async (decision, method) => {
    await show({ ...known, keyOffered: true });
    worker[method].mockResolvedValue(known);
    await trust[decision](peer, number);
    expect(worker[method]).toHaveBeenCalledWith(peer, number);
    expect(ofPeer()?.keyOffered).toBe(false);
    expect(onReleased).toHaveBeenCalledWith(conversationId);
  });

  it('stays open when the decision was about another one', async () => {
    await show({ ...known, keyOffered: true });
    worker.acceptAccountKey.mockRejectedValue(Object.assign(new Error(), { code: 'usage' }));
    await expect(trust.accept(peer, number)).rejects.toMatchObject({
      message: 'Your decision could not be kept. Please try again.',
    });
    expect(onReleased).not.toHaveBeenCalled();
  });

  it('accepted, lets messages go once the present devices are in the place of the former ones', async () => {
    await show(changed);
    const submission = { conversationId } as CommitSubmission;
    worker.hasFormerDevices
      .mockResolvedValueOnce(true)
      .mockResolvedValueOnce(true)
      .mockResolvedValueOnce(true)
      .mockResolvedValue(false);
    api.claimKeyPackages.mockResolvedValue([
      { userId: peer, deviceId: 'new', keyPackage: 'cGFja2FnZQ', lastResort: false },
    ]);
    worker.addMembers.mockResolvedValue(submission);
    commitSubmitter.submit.mockResolvedValueOnce({ kind: 'overtaken' }).mockResolvedValue({ kind: 'taken' });
    expect(await trust.maySend(conversationId)).toBe('yes-after-check');
    expect(worker.addMembers).toHaveBeenCalledWith({
      conversationId,
      keyPackages: [{ userId: peer, deviceId: 'new', keyPackage: 'cGFja2FnZQ' }],
    });
    expect(commitSubmitter.submit).toHaveBeenCalledTimes(2);
    expect(catchUp).toHaveBeenCalledBefore(commitSubmitter.settle);
    expect(await trust.maySend(conversationId)).toBe('yes-after-check');
    expect(commitSubmitter.submit).toHaveBeenCalledTimes(2);
  });
});

describe("what the person's browsers know together", () => {
  const met = (...people: string[]) =>
    deps.sessionEvents.emit('conversationsChanged', {
      states: [state({ members: people.map((userId) => ({ userId, deviceIds: ['one'] })) })],
    });

  it('is told of somebody who was met, soon and once', async () => {
    const somebody = peer.replace(/^./, 'f');
    met(me, peer);
    await deps.clock.advance(timings.pinsSharing);
    await settled();
    expect(accountStates.load).not.toHaveBeenCalled();
    met(me, somebody);
    met(me, somebody);
    await deps.clock.advance(timings.pinsSharing);
    await settled();
    met(me, somebody);
    await deps.clock.advance(timings.pinsSharing);
    await settled();
    expect(accountStates.load).toHaveBeenCalledOnce();
  });

  it('lets messages go that waited for a word which was given at another browser', async () => {
    worker.contactTrust.mockResolvedValue([{ ...known, keyOffered: true }]);
    await trust.reload();
    worker.contactTrust.mockResolvedValue([changed]);
    worker.conversations.mockResolvedValue([state({ refusal: 'identity-changed' })]);
    await trust.refresh();
    await settled();
    expect(onReleased).toHaveBeenCalledWith(conversationId);
    expect(catchUp).toHaveBeenCalledWith(conversationId);
    onReleased.mockClear();
    await trust.refresh();
    await settled();
    expect(onReleased).not.toHaveBeenCalled();
  });
});
