/** Conversations with ts-mls, an independent implementation of RFC 9420, in both directions over bytes only. */

import { describe, expect, it } from 'vitest';
import { groupView, processCommit, processProposal, toLeafIndex } from '../../src/index.ts';
import {
  addOf,
  conversation,
  hooks,
  Ours,
  ourGroup,
  Theirs,
  theirGroup,
  UNDERSTOOD,
  withDevices,
} from './devices.ts';

withDevices();

describe.each([
  ['we created', ourGroup],
  ['the peer created', theirGroup],
] as const)('a group that %s', (_, start) => {
  it('carries messages both ways', async () => {
    const { ours, theirs } = await start();
    expect(await conversation(ours, theirs)).toEqual(UNDERSTOOD);
  });

  it('follows updates of both sides by turns, in private and in public messages', async () => {
    const { ours, theirs } = await start();
    for (let round = 0; round < 3; round++) {
      await theirs.process(ours.commit({ forcePath: true }).commit);
      expect(await conversation(ours, theirs)).toEqual(UNDERSTOOD);
      ours.process((await theirs.commit([], round === 1)).commit);
      expect(await conversation(ours, theirs)).toEqual(UNDERSTOOD);
    }
  });

  it('grows past a full tree and shrinks by commits of either side', async () => {
    const { ours, theirs } = await start();
    const ourSecond = new Ours('our second');
    const theirSecond = new Theirs('their second');
    const theirThird = new Theirs('their third');

    const bundle = ourSecond.keyPackage();
    const added = await theirs.commit([addOf(bundle.bytes), addOf(await theirSecond.keyPackage())]);
    ours.process(added.commit);
    ourSecond.join(added.welcome!, bundle);
    await theirSecond.join(added.welcome!);
    expect(await conversation(ours, theirs)).toEqual(UNDERSTOOD);
    expect(await conversation(ourSecond, theirSecond)).toEqual(UNDERSTOOD);

    const more = ourSecond.commit({ adds: [await theirThird.keyPackage()] });
    ours.process(more.commit);
    await theirs.process(more.commit);
    await theirSecond.process(more.commit);
    await theirThird.join(more.welcome!);
    expect(await conversation(ourSecond, theirThird)).toEqual(UNDERSTOOD);
    expect(ours.fingerprint()).toBe(theirThird.fingerprint());

    const healed = await theirThird.commit([]);
    ours.process(healed.commit);
    ourSecond.process(healed.commit);
    await theirs.process(healed.commit);
    await theirSecond.process(healed.commit);
    expect(await conversation(ours, theirThird)).toEqual(UNDERSTOOD);

    const removesTheirs = ours.commit({ removes: [toLeafIndex(theirSecond.state!.privatePath.leafIndex)] });
    ourSecond.process(removesTheirs.commit);
    await theirs.process(removesTheirs.commit);
    await theirThird.process(removesTheirs.commit);
    expect(await conversation(ourSecond, theirs)).toEqual(UNDERSTOOD);

    const removed = groupView(ourSecond.group!).ownLeaf;
    const removesOurs = await theirThird.commit([{ proposalType: 'remove', remove: { removed } }]);
    ours.process(removesOurs.commit);
    await theirs.process(removesOurs.commit);
    expect(processCommit(ourSecond.group!, removesOurs.commit, hooks).selfRemoved).toBe(true);
    expect(await conversation(ours, theirs)).toEqual(UNDERSTOOD);
    expect(await conversation(ours, theirThird)).toEqual(UNDERSTOOD);
    expect(groupView(ours.group!).members.length).toBe(3);
  });

  it.each([true, false])('commits proposals of the other side (public: %s)', async (isPublic) => {
    const { ours, theirs } = await start();
    const ourSecond = new Ours('our second');
    const theirSecond = new Theirs('their second');

    const bundle = ourSecond.keyPackage();
    const fromThem = processProposal(ours.group!, await theirs.propose(addOf(bundle.bytes), isPublic));
    const committed = ours.commit({ proposals: [fromThem] });
    await theirs.process(committed.commit);
    ourSecond.join(committed.welcome!, bundle);
    expect(await conversation(ourSecond, theirs)).toEqual(UNDERSTOOD);

    const add = ours.propose({ type: 'add', keyPackage: await theirSecond.keyPackage() });
    const update = ourSecond.propose({ type: 'update' });
    const stored = [add.proposal, update.proposal];
    await theirs.process(add.message);
    await theirs.process(update.message);
    processProposal(ours.group!, update.message);
    const { commit, welcome } = await theirs.commit([], isPublic);
    await theirSecond.join(welcome!);
    ours.process(commit, stored);
    ourSecond.process(commit, stored);
    expect(await conversation(ours, theirSecond)).toEqual(UNDERSTOOD);
    expect(ourSecond.fingerprint()).toBe(theirs.fingerprint());
  });

  it('lets an external committer of ours in', async () => {
    const { ours, theirs } = await start();
    const ourSecond = new Ours('our second');
    const commit = ourSecond.joinExternally(await theirs.groupInfo());
    ours.process(commit);
    await theirs.process(commit);
    expect(ours.fingerprint()).toBe(ourSecond.fingerprint());
    expect(await conversation(ourSecond, theirs)).toEqual(UNDERSTOOD);
  });

  it('lets an external committer of the peer in', async () => {
    const { ours, theirs } = await start();
    const theirSecond = new Theirs('their second');
    const { commit: update, groupInfo } = ours.commit({ forcePath: true });
    await theirs.process(update);
    const commit = await theirSecond.joinExternally(groupInfo);
    ours.process(commit);
    await theirs.process(commit);
    expect(await conversation(ours, theirSecond)).toEqual(UNDERSTOOD);
  });
});
