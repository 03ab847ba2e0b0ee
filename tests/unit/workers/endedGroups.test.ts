/** Every group that a device has had in memory: its secrets are overwritten when the device leaves its epoch. */
import type * as Core from '@sinetti/crypto-core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as MlsGroups from '#workers/conversation/mlsGroup.ts';
import { ALICE_AND_BOB, createPair, createTrio, DAVE, GROUP, textOf } from './support/device.ts';

const made = vi.hoisted(() => new Set<Core.Group>());

vi.mock('@sinetti/crypto-core', async (original: () => Promise<typeof Core>) => {
  const core = await original();
  const keep = (group: Core.Group): Core.Group => {
    made.add(group);
    return group;
  };
  return {
    ...core,
    createGroup: (...args: Parameters<typeof core.createGroup>) => keep(core.createGroup(...args)),
    loadGroup: (...args: Parameters<typeof core.loadGroup>) => keep(core.loadGroup(...args)),
    reloadSecretTree: (...args: Parameters<typeof core.reloadSecretTree>) =>
      keep(core.reloadSecretTree(...args)),
    joinByWelcome: (...args: Parameters<typeof core.joinByWelcome>) => keep(core.joinByWelcome(...args)),
    createCommit: (...args: Parameters<typeof core.createCommit>) => {
      const created = core.createCommit(...args);
      keep(created.pending);
      return created;
    },
    joinExternal: (...args: Parameters<typeof core.joinExternal>) => {
      const joined = core.joinExternal(...args);
      keep(joined.pending);
      return joined;
    },
    processCommit: (...args: Parameters<typeof core.processCommit>) => {
      const processed = core.processCommit(...args);
      keep(processed.group);
      return processed;
    },
  };
});

const beforeCaching = vi.hoisted(() => ({ run: (): void => undefined }));

vi.mock('#workers/conversation/mlsGroup.ts', async (original: () => Promise<typeof MlsGroups>) => {
  const groups = await original();
  return {
    ...groups,
    cacheGroup: (...args: Parameters<typeof groups.cacheGroup>) => {
      beforeCaching.run();
      groups.cacheGroup(...args);
    },
  };
});

/** Returns the epochs of which a secret is in memory, once for each place that holds it. */
function epochsInMemory(): number[] {
  const secrets = new Map<Uint8Array, bigint>();
  for (const { context, secrets: ofEpoch, privateKeys, signaturePrivateKey } of made) {
    for (const secret of [...Object.values(ofEpoch), ...privateKeys.values(), signaturePrivateKey]) {
      if (secret.some((octet) => octet !== 0)) secrets.set(secret, context.epoch);
    }
  }
  const held = [...made].filter(({ secrets: { initSecret } }) => secrets.has(initSecret));
  const ended = [...made].filter((group) => !held.includes(group));
  const left = ended.flatMap(({ secrets: ofEpoch, privateKeys, signaturePrivateKey }) =>
    [...Object.values(ofEpoch), ...privateKeys.values(), signaturePrivateKey].filter((secret) =>
      secrets.has(secret),
    ),
  );
  expect(left).toEqual([]);
  const places = new Map(held.map(({ context, secrets: { initSecret } }) => [initSecret, context.epoch]));
  return [...places.values()].map(Number).sort((a, b) => a - b);
}

beforeEach(() => made.clear());

describe('a group in memory', () => {
  it('is ended when its epoch is, by an own commit and by that of another', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await bob.sync();
    expect(epochsInMemory()).toEqual([1, 1]);
    await bob.send(ALICE_AND_BOB, 'two');
    await alice.sync();
    await bob.sync();
    const { epoch } = await alice.api.conversation(ALICE_AND_BOB);
    expect(epoch).toBeGreaterThan(1);
    expect(epochsInMemory()).toEqual([epoch, epoch]);
  });

  it('is ended where its device leaves it, and where the conversation is forgotten', async () => {
    const { alice, bob, carol } = await createTrio();
    for (const device of [alice, bob, carol]) await device.sync();
    expect(epochsInMemory()).toHaveLength(3);
    await carol.api.forgetConversation(GROUP);
    expect(epochsInMemory()).toHaveLength(2);
    await bob.leave(GROUP);
    await alice.sync();
    await bob.sync();
    expect(epochsInMemory()).toHaveLength(1);
  });

  it('is ended, each of them, when several epochs pass at once', async () => {
    const { alice, bob, carol } = await createTrio();
    await bob.send(GROUP, 'one');
    await carol.sync();
    await carol.send(GROUP, 'two');
    await alice.sync();
    await bob.sync();
    const { epoch } = await alice.api.conversation(GROUP);
    expect(epochsInMemory()).toEqual(Array.from({ length: 3 }, () => epoch));
  });

  it('is ended when the call that has read it fails', async () => {
    const { bob, world } = await createTrio();
    await world.device(DAVE);
    const add = () => bob.api.addMembers({ conversationId: GROUP, keyPackages: bob.relay.claim([DAVE], '') });
    await expect(add()).rejects.toMatchObject({ code: 'policy' });
    made.clear();
    await expect(add()).rejects.toMatchObject({ code: 'policy' });
    expect(made.size).toBeGreaterThan(0);
    expect(epochsInMemory()).toEqual([]);
  });

  it('is ended when a call fails that has it in hand, and read again by the next', async () => {
    const { alice, bob, relay } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await alice.send(ALICE_AND_BOB, 'two');
    await bob.api.conversation(ALICE_AND_BOB);
    const entries = relay.entries(ALICE_AND_BOB);
    const [late] = entries.slice(-1);
    if (late === undefined) throw new Error('no entry');
    const before = epochsInMemory();
    await expect(bob.api.processEntries(ALICE_AND_BOB, [late])).rejects.toMatchObject({ code: 'gap' });
    expect(epochsInMemory()).toHaveLength(before.length - 1);
    expect((await bob.sync()).map(textOf)).toEqual(['one', 'two']);
    expect(epochsInMemory()).toEqual(before);
  });

  it('is ended when the account is locked', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await bob.sync();
    expect(epochsInMemory()).toHaveLength(2);
    await bob.api.lock();
    expect(epochsInMemory()).toHaveLength(1);
    await alice.api.lock();
    expect(epochsInMemory()).toEqual([]);
  });

  it('is ended when the account is locked while a call that has it in hand ends', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'one');
    await alice.api.lock();
    const locks: Promise<void>[] = [];
    beforeCaching.run = () => void locks.push(bob.api.lock());
    await bob.syncOne(ALICE_AND_BOB).catch(() => undefined);
    beforeCaching.run = () => undefined;
    await Promise.all(locks);
    expect(locks).not.toEqual([]);
    expect(epochsInMemory()).toEqual([]);
  });
});
