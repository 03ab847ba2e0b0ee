import { describe, expect, it } from 'vitest';
import type { LogEntryInput } from '#workers/api/cryptoApi.ts';
import { fromBase64Url, toBase64Url } from '#workers/codec/base64url.ts';
import { digestOf } from '#workers/conversation/logChain.ts';
import { ALICE_AND_BOB, BOB, createPair, type TestDevice } from './support/device.ts';

/** Alice has written, and both have read it. */
async function createTalk() {
  const { alice, bob, relay, world } = await createPair();
  await alice.send(ALICE_AND_BOB, 'Hello, Bob.');
  await alice.sync();
  await bob.sync();
  const entry = relay.entries(ALICE_AND_BOB, 0).find(({ kind }) => kind === 'application');
  if (entry === undefined) throw new Error('nothing was sent');
  return { alice, bob, entry, relay, world };
}

const compare = (device: TestDevice, entry: LogEntryInput) => device.api.sentEvidence(ALICE_AND_BOB, entry);

function withByte(entry: LogEntryInput, at: number): LogEntryInput {
  const bytes = fromBase64Url(entry.content) ?? new Uint8Array();
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return { ...entry, content: toBase64Url(bytes) };
}

describe('an own message as the relay gives it now', () => {
  it('is the one that was sent, to its last byte, or only its digest is', async () => {
    const { alice, entry } = await createTalk();
    expect((await compare(alice, entry)).match).toBe('same');
    const digest = toBase64Url(digestOf(ALICE_AND_BOB, entry));
    expect(await compare(alice, { ...entry, content: '', digest, expired: true })).toEqual({
      match: 'same',
      fields: null,
    });
  });

  it('is another one where anything of it differs but the time, which is the relay’s word', async () => {
    const { alice, entry } = await createTalk();
    const other = '0000000a-0000-4000-8000-00000000000a';
    const lies: LogEntryInput[] = [
      withByte(entry, 0),
      withByte(entry, -1),
      { ...entry, epoch: entry.epoch + 1 },
      { ...entry, id: other },
      { ...entry, sender_id: BOB },
      { ...entry, sender_device_id: other },
      { ...entry, kind: 'commit' },
      { ...entry, content: '', digest: 'A'.repeat(43) },
    ];
    for (const lie of lies) expect((await compare(alice, lie)).match).toBe('different');
    expect((await compare(alice, { ...entry, timestamp: '2001-01-01T00:00:00Z' })).match).toBe('same');
  });

  it('is unknown where this device has sent nothing, or has found something else in the log', async () => {
    const { alice, bob, entry, relay } = await createTalk();
    expect((await compare(bob, entry)).match).toBe('unknown');
    expect((await compare(alice, { ...entry, seq: 99 })).match).toBe('unknown');
    await alice.send(ALICE_AND_BOB, 'Damaged on its way.');
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const damaged = withByte(relay.entries(ALICE_AND_BOB, lastSeq)[0]!, -1);
    await alice.api.processEntries(ALICE_AND_BOB, [damaged]);
    // It is what was read there, and not what was sent.
    expect((await compare(alice, damaged)).match).toBe('unknown');
  });

  it('shows in the open its conversation, epoch, kind and id, and ciphertext from there on', async () => {
    const { alice, entry } = await createTalk();
    const { fields } = await compare(alice, entry);
    expect(fields).toEqual([
      { name: 'version', length: 2, value: 'mls10' },
      { name: 'wireFormat', length: 2, value: 'mls_private_message' },
      // Two bytes say that 80 follow.
      { name: 'groupId', length: 2 + ALICE_AND_BOB.length, value: ALICE_AND_BOB },
      { name: 'epoch', length: 8, value: String(entry.epoch) },
      { name: 'contentType', length: 1, value: 'application' },
      { name: 'authenticatedData', length: 1 + 36, value: entry.id },
    ]);
    const bytes = fromBase64Url(entry.content) ?? new Uint8Array();
    const start = (fields ?? []).reduce((sum, { length }) => sum + length, 0);
    const open = new TextDecoder().decode(bytes.subarray(0, start));
    expect(open).toContain(ALICE_AND_BOB);
    expect(open.endsWith(entry.id)).toBe(true);
    expect(new TextDecoder().decode(bytes)).not.toContain('Hello');
  });

  it('has no fields where the bytes are none of MLS, or end too early', async () => {
    const { alice, entry } = await createTalk();
    for (const content of ['', 'AAAA', 'not base64url!', entry.content.slice(0, 200)])
      expect((await compare(alice, { ...entry, content })).fields).toBeNull();
  });

  it('is looked at without changing anything that is stored', async () => {
    const { alice, entry } = await createTalk();
    const before = await alice.api.conversation(ALICE_AND_BOB);
    await compare(alice, withByte(entry, -1));
    expect(await alice.api.conversation(ALICE_AND_BOB)).toEqual(before);
    expect(await alice.api.events(ALICE_AND_BOB)).toEqual([]);
    await alice.send(ALICE_AND_BOB, 'Goes on.');
  });

  it('is asked for by entries of one’s own conversations alone', async () => {
    const { alice, entry } = await createTalk();
    const usage = { code: 'usage' };
    const others = 'direct:0000000c-0000-4000-8000-00000000000c:0000000d-0000-4000-8000-00000000000d';
    await expect(alice.api.sentEvidence(others, entry)).rejects.toMatchObject(usage);
    const unparsed = { ...entry, seq: '1' } as unknown as LogEntryInput;
    await expect(compare(alice, unparsed)).rejects.toMatchObject(usage);
  });
});
