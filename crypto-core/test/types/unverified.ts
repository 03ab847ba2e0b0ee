/**
 * Passes unverified values where verified ones are needed. Nothing here runs: `tsc -p crypto-core/tsconfig.test.json`
 * fails on an `@ts-expect-error` under which the type of an unverified value is accepted.
 */
import { externalPubOf } from '../../src/group/groupInfo.ts';
import { applyChanges, type ProposedChanges } from '../../src/group/proposalList.ts';
import type { Group } from '../../src/group/state.ts';
import { joinEpoch } from '../../src/group/welcome.ts';
import type { GroupInfo, UnverifiedGroupInfo } from '../../src/structs/groupInfo.ts';
import type { KeyPackage, OwnKeyPackage, UnverifiedKeyPackage } from '../../src/structs/keyPackage.ts';
import type { CipherSuite } from '../../src/suite/suites.ts';
import type { RatchetTree, UnverifiedRatchetTree } from '../../src/tree/ratchetTree.ts';

export function addMember(
  tree: RatchetTree,
  changes: ProposedChanges<KeyPackage>,
  unverified: UnverifiedKeyPackage,
  own: OwnKeyPackage,
): void {
  // @ts-expect-error a client is added by a KeyPackage only after verifyKeyPackage accepted it for the group
  applyChanges(tree, { ...changes, adds: [{ keyPackage: unverified, number: 0, ref: null }] });
  // @ts-expect-error an own KeyPackage was verified for no group
  applyChanges(tree, { ...changes, adds: [{ keyPackage: own, number: 0, ref: null }] });
  for (const { keyPackage: verified } of changes.adds) {
    // @ts-expect-error a verified KeyPackage is unverified again once a field of it changes
    // oxlint-disable-next-line typescript/no-misused-spread -- at run time it is no instance of a class
    const keyPackage: KeyPackage = { ...verified, initKey: unverified.initKey };
    applyChanges(tree, { ...changes, adds: [{ keyPackage, number: 0, ref: null }] });
  }
}

export function buildGroup(group: Group, unverified: UnverifiedRatchetTree): Group {
  // @ts-expect-error a group is built on a tree only after verifyRatchetTree accepted it
  return { ...group, tree: unverified };
}

export function changeTree(unverified: UnverifiedRatchetTree): void {
  // @ts-expect-error a commit is applied to a clone of a verified tree only
  unverified.clone();
}

export function joinGroup(
  suite: CipherSuite,
  verified: GroupInfo,
  unverified: UnverifiedGroupInfo,
  tree: RatchetTree,
  secret: Uint8Array,
): void {
  // @ts-expect-error a Welcome is followed only after verifyGroupInfo accepted its GroupInfo
  joinEpoch(suite, unverified, tree, secret, secret);
  // @ts-expect-error an external commit is made only after verifyGroupInfo accepted the GroupInfo
  externalPubOf(unverified);
  // @ts-expect-error a verified GroupInfo is unverified again once a field of it changes
  // oxlint-disable-next-line typescript/no-misused-spread -- at run time it is no instance of a class
  externalPubOf({ ...verified, extensions: [] });
}
