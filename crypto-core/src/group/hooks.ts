/** The decisions of the application: who may stand for a signature key, and which valid commits it accepts. */
import type { Credential } from '../structs/credential.ts';
import type { Extension } from '../structs/extension.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';

/**
 * The Authentication Service of RFC 9420 section 5.3.1. Called for every credential that is new to this client:
 * of an added or updated leaf, of a committer's changed leaf, and of each leaf of a tree it joins.
 * `replaces` is set when a member's credential or signature key changes, and for an external joiner that removes a
 * leaf: the credential must then be a valid successor of that one.
 * `now`, in seconds since the Unix epoch, is set when this client is about to add the member itself. A received leaf is
 * judged by no clock, because members whose clocks differ would have to disagree about its commit.
 * Throws CryptoError 'invalid-credential' to refuse.
 */
export type MemberCheck = (
  leaf: { readonly credential: Credential; readonly signatureKey: Uint8Array },
  context: {
    readonly groupId: Uint8Array;
    readonly replaces: Credential | null;
    readonly now: bigint | null;
  },
) => void;

/**
 * Told, while a client joins a group, how many leaves' signatures are verified so far, and how many leaves there are: every 256
 * leaves and after the last, in the middle of the call, so that a worker can post it. What it throws ends the join.
 */
export type JoinProgress = (verified: number, leaves: number) => void;

export interface MemberView {
  readonly leafIndex: LeafIndex;
  readonly credential: Credential;
  readonly signatureKey: Uint8Array;
}

/** The public state of a group; `members` is in leaf order. */
export interface GroupView {
  /** An IANA cipher suite number. */
  readonly suite: number;
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly ownLeaf: LeafIndex;
  /** The extensions of the GroupContext. */
  readonly extensions: readonly Extension[];
  readonly members: readonly MemberView[];
  readonly epochAuthenticator: Uint8Array;
}

/** A commit whose signature holds and whose proposals are valid MLS, before anything of it is applied. */
export interface CommitProposal {
  readonly sender: LeafIndex | 'external';
  /** The committer's credential; an external committer joins with it. */
  readonly senderCredential: Credential;
  readonly adds: readonly Credential[];
  /** `bySelf` is true for a member that removes itself, by a SelfRemove. */
  readonly removes: readonly {
    readonly leafIndex: LeafIndex;
    readonly credential: Credential;
    readonly bySelf: boolean;
  }[];
  readonly updates: readonly { readonly leafIndex: LeafIndex; readonly credential: Credential }[];
  readonly external: boolean;
  /** True when the commit replaces the group's extensions, or changes one of them by an AppDataUpdate. */
  readonly changesExtensions: boolean;
  /** The extensions of the GroupContext after the commit. */
  readonly extensions: readonly Extension[];
  /** True when the commit ends the group in favour of another, so that nothing can be sent in it any more. */
  readonly endsGroup: boolean;
  readonly authenticatedData: Uint8Array;
  /** The group before the commit. */
  readonly group: GroupView;
  /** Gives the `leafRef` of a leaf in that group. */
  readonly leafRef: (leafIndex: LeafIndex, label: string) => Uint8Array | null;
}

/** The application's own rules for commits, its own ones included. Throws CryptoError 'policy' to refuse. */
export type CommitPolicy = (commit: CommitProposal) => void;

/** A group that is about to be joined: valid MLS, as its GroupInfo describes it. */
export interface JoinProposal {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly extensions: readonly Extension[];
  /** The extensions of the GroupInfo itself. */
  readonly infoExtensions: readonly Extension[];
  /** The member that signed the GroupInfo; with a Welcome, the one that added this client. */
  readonly signer: MemberView;
  /** In leaf order; with a Welcome, this client is among them. */
  readonly members: readonly MemberView[];
}

/** The application's own rules for joining. Throws CryptoError 'policy' to refuse. */
export type JoinPolicy = (join: JoinProposal) => void;

/** Finds a pre-shared key that the application holds; undefined makes the commit fail with `missing-psk`. */
export type PskLookup = (id: PreSharedKeyId) => Uint8Array | undefined;
