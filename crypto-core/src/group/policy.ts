import type { Credential } from '../structs/credential.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { CommitPolicy } from './hooks.ts';
import type { ProposalEffects } from './proposalList.ts';
import { type Group, groupView, leafRef } from './state.ts';

/** Puts a valid commit before the application. @throws CryptoError 'policy' */
export function checkPolicy(
  policy: CommitPolicy,
  group: Group,
  sender: LeafIndex | 'external',
  senderCredential: Credential,
  effects: ProposalEffects,
  authenticatedData: Uint8Array,
): void {
  policy({
    sender,
    senderCredential,
    adds: effects.added.map(({ keyPackage }) => keyPackage.leafNode.credential),
    removes: effects.removed.map(({ leafIndex, before }) => ({ leafIndex, credential: before.credential })),
    updates: effects.updated.map(({ leafIndex, after }) => ({ leafIndex, credential: after.credential })),
    external: sender === 'external',
    changesExtensions: effects.changesExtensions,
    authenticatedData,
    group: groupView(group),
    leafRef: (leafIndex, label) => leafRef(group, leafIndex, label),
  });
}
