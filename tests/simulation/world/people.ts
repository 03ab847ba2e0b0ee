import type { MessageChange } from '#src/crypto/client.ts';
import { authStatusAtom } from '#src/store/session.ts';
import type { MessageView } from '#workers/api/cryptoApi.ts';
import type { Profile, Tab } from './profile.ts';

/** A browser of a person's, and what its owner has done with it. */
export class Seat {
  readonly person: Person;
  readonly profile: Profile;
  /** `revoked` for good: the person has taken this device out of use. */
  status: 'in' | 'out' | 'revoked' = 'out';
  deviceId: string | null = null;

  constructor(person: Person, profile: Profile) {
    this.person = person;
    this.profile = profile;
  }

  /** The tabs in which somebody is signed in. */
  get tabs(): Tab[] {
    return this.profile.tabs.filter(
      (tab) => tab.store.get(authStatusAtom) === 'success' && tab.userId !== null,
    );
  }
}

export class Person {
  readonly name: string;
  readonly password: string;
  id = '';
  readonly seats: Seat[] = [];
  said = 0;

  constructor(name: string) {
    this.name = name;
    this.password = `${name}'s long password`;
  }

  get tabs(): Tab[] {
    return this.seats.filter(({ status }) => status === 'in').flatMap(({ tabs }) => tabs);
  }
}

/** A chat of a tab's, and its conversation. */
export interface Place {
  readonly key: string;
  readonly conversationId: string;
}

/** Something that a browser has been given to send. */
export interface Given {
  readonly seat: Seat;
  readonly conversationId: string;
  /** The outbox has it: from then on it may not be lost. */
  isKept: boolean;
  /** True once its writer, or a fault of the disk, may have taken it away before it was sent. */
  mayBeLost: boolean;
}

/** A message that somebody has written. */
export interface Said extends Given {
  readonly text: string;
  /** The moment of the world at which somebody began to say it. */
  readonly begunAt: number;
  /** In the order in which people began them. */
  readonly changes: Changed[];
  /** Its bytes, where it is the caption of a file. */
  readonly file: Uint8Array | null;
  /** It was passed on. */
  readonly isForwarded: boolean;
  /** Its browser was left before the file was sealed, and has given the caption back as a draft. */
  isGivenBack: boolean;
}

/** A change of a message: by its writer, or a reaction of anybody. */
export interface Changed extends Given {
  readonly change: MessageChange;
}

/** The texts that a message may be shown with. */
export function textsOf({ changes, text }: Said): string[] {
  return [text, ...changes.flatMap(({ change }) => (change.kind === 'edit' ? change.text : []))];
}

/** Returns whether a message is this one, as it was said or as an edit has it. */
export function isShownWith(said: Said, { content, conversationId }: MessageView): boolean {
  const isOfText = content.kind === 'text' || content.kind === 'files';
  return isOfText && conversationId === said.conversationId && textsOf(said).includes(content.text);
}

/** A text with its place: one that was passed on is in several conversations. */
export const textAt = (conversationId: string, text: string): string => `${conversationId} ${text}`;

export function isDeleted({ changes }: Said): boolean {
  return changes.some(({ change }) => change.kind === 'deletion');
}
