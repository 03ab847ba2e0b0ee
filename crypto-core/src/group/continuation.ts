/** Groups that continue another: its successor after a ReInit, or a branch of it (RFC 9420 sections 11.2 and 11.3). */
import { equalBytes, toHex } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import type { Credential } from '../structs/credential.ts';
import { writeExtensions } from '../structs/extension.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import type { PskLookup } from './hooks.ts';
import { assertNotEnded, type Group } from './state.ts';

/** The group that another one continues, as this client has it. */
export interface Continuation {
  /** `reinit`: the group that a ReInit ended. `branch`: one that goes on, in the epoch that the new one is made from. */
  readonly usage: 'reinit' | 'branch';
  readonly group: Group;
  /** Returns whether two credentials are of the same member; by default, when they are the same. */
  readonly isSameMember?: (old: Credential, renewed: Credential) => boolean;
}

type ResumptionPskId = Extract<PreSharedKeyId, { readonly type: 'resumption' }>;

function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-commit', `${check}: ${detail}`);
}

/** Names the PSK by which the first commit of the new group is tied to the old one, with a nonce of its own. */
export function continuationPsk({ usage, group }: Continuation, env: Env): PreSharedKeyId {
  const { groupId, epoch } = group.context;
  return { type: 'resumption', usage, groupId, epoch, nonce: env.random(group.suite.kdf.Nh) };
}

function isOf({ usage, group: { context } }: Continuation, id: ResumptionPskId): boolean {
  return id.usage === usage && id.epoch === context.epoch && equalBytes(id.groupId, context.groupId);
}

/**
 * WELCOME-03 (sections 11.2 and 11.3): a group continues another only where the caller names that one, by one PSK.
 * @param psks of a Welcome, or of the first commit of a new group
 * @throws CryptoError 'unsupported' for a group that continues one that the caller doesn't name, 'invalid-commit' for one
 * that doesn't continue it, 'usage' where the old group was ended: its secret would be one that everybody knows
 */
export function checkContinuationPsks(
  psks: readonly PreSharedKeyId[],
  continues: Continuation | undefined,
): void {
  const tied = psks.filter((id) => id.type === 'resumption' && id.usage !== 'application');
  if (continues === undefined) {
    if (tied.length > 0) throw new CryptoError('unsupported', 'WELCOME-03: a group that continues another');
    return;
  }
  assertNotEnded(continues.group);
  const isTied = tied.length === 1 && tied.every((id) => id.type === 'resumption' && isOf(continues, id));
  if (!isTied) refuse('WELCOME-03', `not a ${continues.usage} of the group and epoch`);
}

/** Adds the old group's resumption PSK to what the application holds. */
export function withContinuation(
  continues: Continuation | undefined,
  lookup: PskLookup | undefined,
): PskLookup | undefined {
  if (continues === undefined) return lookup;
  return (id) =>
    id.type === 'resumption' && id.usage !== 'application' && isOf(continues, id)
      ? continues.group.secrets.resumptionPsk
      : lookup?.(id);
}

function assertAllAmong(
  check: string,
  some: RatchetTree,
  others: RatchetTree,
  isSame: (one: Credential, other: Credential) => boolean,
): void {
  const candidates = [...others.members()].map(({ leaf }) => leaf.credential);
  const exact = new Set(candidates.map(nameOf));
  for (const { leafIndex, leaf } of some.members()) {
    const { credential } = leaf;
    // Most have the same credential in both, so that only the others are compared with each one.
    if (exact.has(nameOf(credential)) && isSame(credential, credential)) continue;
    if (!candidates.some((candidate) => isSame(credential, candidate))) {
      refuse(check, `leaf ${leafIndex} is not in the other group`);
    }
  }
}

function nameOf(credential: Credential): string {
  return credential.type === 'basic' ? toHex(credential.identity) : credential.type;
}

function sameCredential(one: Credential, other: Credential): boolean {
  return one.type === 'basic' && other.type === 'basic' && equalBytes(one.identity, other.identity);
}

/**
 * Checks the first epoch of a group that continues another, for its creator and for those who join it.
 * WELCOME-06 (section 12.4.3.1): it is epoch 1.
 * WELCOME-07 (section 11.2): after a ReInit, its id, suite and extensions are those of the ReInit that ended the old group.
 * WELCOME-08 (section 11.2): after a ReInit, all members of the old group are in the new one.
 * WELCOME-09 (section 11.3): a branch has the suite of the old group, and no members but its.
 * @throws CryptoError 'invalid-commit'
 */
export function checkContinuation(continues: Continuation, context: GroupContext, tree: RatchetTree): void {
  const { usage, group, isSameMember = sameCredential } = continues;
  if (context.epoch !== 1n) refuse('WELCOME-06', `epoch ${context.epoch}`);
  if (usage === 'branch') {
    if (context.cipherSuite !== group.suite.id) refuse('WELCOME-09', `cipher suite ${context.cipherSuite}`);
    return assertAllAmong('WELCOME-09', tree, group.tree, (renewed, old) => isSameMember(old, renewed));
  }
  const { reInit } = group;
  if (group.status !== 'reinitialized' || reInit === undefined) refuse('WELCOME-07', 'the old group goes on');
  const isAsAgreed =
    equalBytes(context.groupId, reInit.groupId) &&
    context.cipherSuite === reInit.cipherSuite &&
    equalBytes(encode(context.extensions, writeExtensions), encode(reInit.extensions, writeExtensions));
  if (!isAsAgreed) refuse('WELCOME-07', 'not the group of the ReInit');
  assertAllAmong('WELCOME-08', group.tree, tree, isSameMember);
}
