import type { ConversationEvent, MessageView, PublicField, SentEvidence, Words } from '../crypto/client.ts';
import type { ConversationKey } from './chats.ts';

export type { PublicField, SentEvidence } from '../crypto/client.ts';

/** The outcomes of the published cases of one format so far. */
export interface VectorGroup {
  /** The format, as crypto-core calls it. */
  readonly format: string;
  /** The repository at GitHub that has published them. */
  readonly source: string;
  readonly total: number;
  readonly passed: number;
  /** Cases that came out otherwise, with the field that did. */
  readonly failed: readonly { readonly number: number; readonly field: string }[];
}

export interface VectorRun {
  readonly groups: readonly VectorGroup[];
  /** Milliseconds since the run began. */
  readonly elapsed: number;
}

/** A file of this client, as this browser has it now. */
export interface CheckedFile {
  readonly path: string;
  /** SHA-256 in base64url; null where it could not be read. */
  readonly hash: string | null;
  /**
   * `stated`: it comes from the relay anew, and is that of the release which the relay states now, not of the one in use. `unknown` where
   * there is no release to compare with.
   */
  readonly result: 'same' | 'stated' | 'different' | 'not-in-release' | 'unreadable' | 'unknown';
}

/** The release that the page's files are compared with; nobody here has checked its signatures. */
export interface ComparedRelease {
  readonly version: string;
  /** Its place in the chain. */
  readonly seq: number;
  /** The number of files at the origin of the keys, which the browser lets no page read. */
  readonly keysFiles: number;
  /** The service worker holds on to it; otherwise it is that of the relay's chain which the files are of. */
  readonly isHeld: boolean;
}

/** How the release that the relay states now stands to the one in use. */
export type StatedNow =
  | { readonly state: 'same' }
  /** `other`: it is an older one, or one in its place. */
  | { readonly state: 'newer' | 'other'; readonly version: string }
  /** It states none, or none that this client can read. */
  | { readonly state: 'none' | 'unreadable' };

export interface FilesCheck {
  /** Null where there is none to compare with. */
  readonly release: ComparedRelease | null;
  readonly stated: StatedNow;
  /** The service worker has given the page in use; otherwise the relay has given the page that it sends now. */
  readonly isKept: boolean;
  /** The browser has noted no more of what was loaded: there may be other files. */
  readonly isCut: boolean;
  readonly files: readonly CheckedFile[];
}

export type PlayerName = 'anna' | 'bert';

/** The relay of the play can do these beside its duty. */
export const tricks = ['drop', 'swap', 'replay', 'alter', 'key', 'device', 'rollback'] as const;
export type Trick = (typeof tricks)[number];

/** The screen of somebody in the play. */
export interface PlayerScreen {
  readonly userId: string;
  readonly messages: readonly MessageView[];
  readonly events: readonly ConversationEvent[];
  /** Another key was shown for the other person: messages wait. */
  readonly keyOffered: boolean;
  /** Something was found missing or different: nothing is sent before the person says so. */
  readonly isDoubted: boolean;
}

/** An entry of the log as the relay has it: sealed bytes, and what it needs to deliver them. */
export interface PlayEntry {
  readonly seq: number;
  readonly from: PlayerName | 'relay';
  readonly kind: 'application' | 'commit';
  /** Bytes of it. */
  readonly length: number;
  /** Its last bytes, in base64url. */
  readonly end: string;
}

export interface PlayState {
  readonly log: readonly PlayEntry[];
  readonly screens: Readonly<Record<PlayerName, PlayerScreen>>;
  /** The people whose screens say that something is wrong. */
  readonly noticedBy: readonly PlayerName[];
}

export interface Play {
  /** Begins a conversation anew, in which the relay does its duty, and then the trick; null for its duty alone. */
  play(trick: Trick | null): Promise<PlayState>;
}

/** The last text that this browser has sent, from its own history. */
export interface SentText extends Words {
  readonly key: ConversationKey;
  readonly conversationId: string;
  /** This browser's. */
  readonly deviceId: string;
  /** Its position in the log. */
  readonly seq: number;
  /** The words are those that were sent first; the person has edited them since, by other messages. */
  readonly isEdited: boolean;
}

/** A message as the relay has it at this moment. */
export type RelayCopy =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      /** Bytes that are in the open at their beginning; the others are ciphertext. */
      readonly fields: readonly PublicField[];
      readonly match: SentEvidence['match'];
      /** A piece of the text stands in the ciphertext; null of a text so short that chance would have it there, too. */
      readonly hasText: boolean | null;
      readonly entry: RelayEntry;
    }
  /** It was received everywhere, or too old. The digest is in base64url. */
  | {
      readonly kind: 'digest';
      readonly digest: string;
      readonly match: SentEvidence['match'];
      readonly entry: RelayEntry;
    }
  /** It shows nothing at that position. */
  | { readonly kind: 'missing' }
  /** It says that there is no such conversation for this person. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' };

/** The relay's word on an entry, beside its bytes. */
export interface RelayEntry {
  readonly senderId: string;
  readonly senderDeviceId: string;
  readonly epoch: number;
  readonly seq: number;
  /** RFC 3339. */
  readonly timestamp: string;
}

export interface LastSent {
  readonly text: SentText;
  readonly copy: RelayCopy;
}

/** The doings of the page /prove; made by `services/proof`. */
export interface Proof {
  /** Runs the published vectors. @param onProgress called after each few cases */
  readonly runVectors: (onProgress: (run: VectorRun) => void) => Promise<VectorRun>;
  readonly checkFiles: () => Promise<FilesCheck>;
  /** @param texts what the two say, in the visitor's language, in order */
  readonly startPlay: (texts: readonly string[]) => Promise<Play>;
  /** Ends whatever goes on. */
  readonly close: () => void;
}
