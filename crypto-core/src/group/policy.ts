import type { Credential } from '../structs/credential.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { CommitPolicy, GroupView } from './hooks.ts';
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
  let view: GroupView | null = null;
  policy({
    sender,
    senderCredential,
    adds: effects.added.map(({ keyPackage }) => keyPackage.leafNode.credential),
    removes: effects.removed.map(({ leafIndex, before, bySelf }) => ({
      leafIndex,
      credential: before.credential,
      bySelf,
    })),
    updates: effects.updated.map(({ leafIndex, after }) => ({ leafIndex, credential: after.credential })),
    external: sender === 'external',
    changesExtensions: effects.changesExtensions || effects.changesAppData,
    extensions: effects.extensions,
    endsGroup: effects.reInit !== null,
    authenticatedData,
    // Made when it is asked for, because it lists all members.
    get group() {
      view ??= groupView(group);
      return view;
    },
    leafRef: (leafIndex, label) => leafRef(group, leafIndex, label),
  });
}
