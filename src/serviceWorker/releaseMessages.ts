/** Pages and service workers say these to each other about signed releases. */

/** From a page, with a port for the answer: compare what the relay has with the release in use. The answer is a {@link ReleaseVerdict}. */
export const verdictMessage = 'release-verdict';

/**
 * From a page, with a port for the answer: tell the release that you are of. The answer is its statement in canonical JSON (RFC 8785), or
 * null where none is held on to.
 */
export const inUseMessage = 'release-in-use';

/** From a page, with a port for the answer: the person agrees to the release of this hash. The answer is whether it is one to agree to. */
export interface AgreeMessage {
  readonly type: 'release-agreed';
  readonly release: string;
}

/** How the relay's newest release stands to the one that this browser holds on to. */
export type ReleaseVerdict =
  /** The relay states no releases, and never has for this browser. */
  | { readonly state: 'unsigned' | 'unreachable' }
  | { readonly state: 'current'; readonly version: string }
  | ({ readonly state: 'newer'; readonly release: string } & ReleaseChanges)
  | ReleaseRefusal;

/** The parts that another release changes. */
export interface ReleaseChanges {
  readonly version: string;
  readonly app: boolean;
  /** The frame and worker that hold the keys. */
  readonly room: boolean;
  readonly policies: boolean;
}

/** A release that comes into no use. */
export interface ReleaseRefusal {
  readonly state: 'refused';
  /** A code of `Failure` (verify/src/chain/errors.ts). */
  readonly code: string;
  /** For operators, in English. */
  readonly reason: string;
  /** True if the service worker's script that the relay serves is of some release of its chain. */
  readonly isKnownScript: boolean;
}

/** To the pages: a signed release is held on to, or, with a refusal, the first version is none and was not installed. */
export interface ReleaseMessage {
  readonly type: 'release';
  readonly refusal?: ReleaseRefusal;
}
