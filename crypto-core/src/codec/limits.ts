/**
 * The most that is read of what somebody else sent. RFC 9420 leaves the sizes of most vectors open up to 2^30 bytes, and
 * what is worked out from an item costs more than its bytes do, so that a small message could keep a client busy for
 * minutes. What is beyond a limit is refused as it is read, before anything is worked out from it.
 */
export interface Limits {
  /** Bytes of a group id. A leaf's signature covers it, so that it is hashed once for each leaf. */
  readonly groupIdBytes: number;
  /** Nodes of a ratchet tree, blank ones included: twice the leaves, less one. */
  readonly nodes: number;
  /** Unmerged leaves of a node, ciphertexts of a step of a path, and clients that a Welcome is for. */
  readonly leaves: number;
  /** Steps of a path: one for each level above the leaves. */
  readonly pathNodes: number;
  /** Proposals of a commit, and PSKs that a Welcome names. */
  readonly proposals: number;
  /** Entries of a list of extensions. */
  readonly extensions: number;
  /** Entries of each list of capabilities, or of required ones. */
  readonly capabilities: number;
  /** Entries of the external_senders extension. */
  readonly externalSenders: number;
  /** Certificates of an X.509 credential, which is refused after it was read. */
  readonly certificates: number;
  /** Entries of a dictionary of component data. */
  readonly components: number;
  /** Leave statements, or revocations, in the grounds of a removal. */
  readonly statements: number;
}

/** The limits when a caller names none: for groups of 4,096 devices, of which one commit adds up to 2,048. */
export const DEFAULT_LIMITS: Limits = {
  groupIdBytes: 256,
  nodes: 8191,
  leaves: 4096,
  pathNodes: 12,
  proposals: 2048,
  extensions: 32,
  capabilities: 64,
  externalSenders: 16,
  certificates: 16,
  components: 256,
  statements: 2048,
};

/** For records of this client's own, which it has authenticated and which hold what it accepted. */
export const NO_LIMITS: Limits = {
  groupIdBytes: Infinity,
  nodes: Infinity,
  leaves: Infinity,
  pathNodes: Infinity,
  proposals: Infinity,
  extensions: Infinity,
  capabilities: Infinity,
  externalSenders: Infinity,
  certificates: Infinity,
  components: Infinity,
  statements: Infinity,
};
