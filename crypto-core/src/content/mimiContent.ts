/** MIMI content (draft-ietf-mimi-content-08): what an application message says. Section numbers are the draft's. */

import { utf8 } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { sha256 } from '../suite/sodium.ts';
import { CborReader, type CborValue, type CborWriter, encodeCbor } from './cbor.ts';

/** Section 4.1. Lengths are in octets. */
export interface MimiContent {
  /** 16 octets, random for each message. */
  readonly salt: Uint8Array;
  /** The message id of what this edits, deletes or takes back, 32 octets. */
  readonly replaces: Uint8Array | null;
  readonly topicId: Uint8Array;
  readonly expires: Expiration | null;
  /** The message id of what this answers or reacts to, 32 octets. */
  readonly inReplyTo: Uint8Array | null;
  /** By the registered integer, or a private negative integer or text of up to 255 octets. */
  readonly extensions: ReadonlyMap<number | string, CborValue>;
  readonly body: NestedPart;
}

/** Seconds, below 2^32: after it was read, or since the Unix epoch. */
export interface Expiration {
  readonly relative: boolean;
  readonly time: number;
}

/** The registry of section 8.2.2. Others up to 255 are kept as the numbers they are. */
export const DISPOSITION = {
  unspecified: 0,
  render: 1,
  reaction: 2,
  profile: 3,
  inline: 4,
  icon: 5,
  attachment: 6,
  session: 7,
  preview: 8,
} as const;

/** Keys of `extensions`, by the registry of section 8.2.1. */
export const CONTENT_EXTENSION = { senderUri: 1, roomUri: 2 } as const;

interface Part {
  readonly disposition: number;
  /** Language tags (RFC 5646), separated by commas; empty where it has none. */
  readonly language: string;
}

/** Nothing: the body of a deletion, and of a reaction that is taken back. */
export interface NullPart extends Part {
  readonly kind: 'null';
}

export interface SinglePart extends Part {
  readonly kind: 'single';
  /** A media type with its parameters. */
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** Section 4.5: content that is fetched, as a rule encrypted. */
export interface ExternalPart extends Part {
  readonly kind: 'external';
  readonly contentType: string;
  readonly url: string;
  /** Seconds since the Unix epoch; 0 for never. */
  readonly expires: number;
  /** Octets, below 2^53; 0 where it isn't said. */
  readonly size: number;
  /** IANA AEAD algorithm; 0 for none. */
  readonly encAlg: number;
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly aad: Uint8Array;
  /** IANA named information hash algorithm. */
  readonly hashAlg: number;
  readonly contentHash: Uint8Array;
  readonly description: string;
  readonly filename: string;
}

export interface MultiPart extends Part {
  readonly kind: 'multi';
  readonly semantics: PartSemantics;
  /** At least two. */
  readonly parts: readonly NestedPart[];
}

export type NestedPart = NullPart | SinglePart | ExternalPart | MultiPart;

/** One part of several is chosen, all are one unit, or each is processed as far as it is understood. */
export type PartSemantics = 'chooseOne' | 'singleUnit' | 'processAll';

const CARDINALITY = { null: 0, single: 1, external: 2, multi: 3 } as const;
const PART_LENGTH = { null: 3, single: 5, external: 15, multi: 5 } as const;
const SEMANTICS: readonly PartSemantics[] = ['chooseOne', 'singleUnit', 'processAll'];

export const MIMI_SALT_LENGTH = 16;
export const MIMI_MESSAGE_ID_LENGTH = 32;
/** Section 6.3, of parts and of extensions. */
const MAX_DEPTH = 4;
const MAX_U8 = 2 ** 8 - 1;
const MAX_U16 = 2 ** 16 - 1;
const MAX_U32 = 2 ** 32 - 1;
/** Parts in all: more than anybody sends, and few enough that a message of them is shown at once. */
const MAX_PARTS = 128;
const MAX_EXTENSION_NAME = 255;
/** Names and values of extensions in all. */
const MAX_EXTENSION_VALUES = 1024;

/**
 * Decodes one message's content. Byte strings are views of the input.
 * @throws CryptoError 'malformed', and 'unsupported' for what a later version or another client may mean: tags and
 * floating-point numbers in extensions, cardinalities and part semantics that aren't spoken here, more than 128 parts, or
 * 1024 names and values of extensions
 */
export function decodeMimiContent(bytes: Uint8Array): MimiContent {
  const r = new CborReader(bytes);
  expectItems(r, 7);
  const salt = octets(r, MIMI_SALT_LENGTH);
  const replaces = r.nullable(readMessageId);
  const topicId = r.bytes();
  const expires = r.nullable(readExpiration);
  const inReplyTo = r.nullable(readMessageId);
  const extensions = r.map(MAX_DEPTH, MAX_EXTENSION_VALUES);
  for (const name of extensions.keys()) {
    if (!isExtensionName(name)) throw new CryptoError('malformed', 'name of a content extension');
  }
  const body = readPart(r, MAX_DEPTH, { parts: MAX_PARTS });
  r.end();
  return { salt, replaces, topicId, expires, inReplyTo, extensions, body };
}

/**
 * Encodes one message's content (draft-ietf-mimi-content-08, section 3).
 * @throws CryptoError 'usage' for what {@link decodeMimiContent} would refuse
 */
export function encodeMimiContent(content: MimiContent): Uint8Array {
  const { body, expires, extensions, inReplyTo, replaces, salt, topicId } = content;
  if (salt.length !== MIMI_SALT_LENGTH || ![...extensions.keys()].every(isExtensionName))
    throw new CryptoError('usage', 'MIMI content that nobody would accept');
  return encodeCbor((w) => {
    w.array(7);
    w.bytes(salt);
    w.nullable(replaces, (id) => writeMessageId(w, id));
    w.bytes(topicId);
    w.nullable(expires, ({ relative, time }) => {
      w.array(2);
      w.boolean(relative);
      w.unsigned(time, MAX_U32);
    });
    w.nullable(inReplyTo, (id) => writeMessageId(w, id));
    w.map(extensions, MAX_DEPTH, MAX_EXTENSION_VALUES);
    writePart(w, body, MAX_DEPTH, { parts: MAX_PARTS });
  });
}

/**
 * The message id (section 3.3), 32 octets: the number of SHA-256, and 31 octets of it over sender, room, message and salt.
 * @param uris of the sender and of the room, at most 65,535 octets each
 */
export function mimiMessageId(
  uris: { readonly sender: string; readonly room: string },
  message: Uint8Array,
  salt: Uint8Array,
): Uint8Array {
  const hash = sha256(
    encode(uris, (w, { room, sender }) => {
      for (const uri of [utf8(sender), utf8(room)]) {
        w.u16(uri.length);
        w.bytes(uri);
      }
      w.bytes(message);
      w.bytes(salt);
    }),
  );
  return messageIdOf(hash);
}

/**
 * The message id of one from before MIMI content, in the form of {@link mimiMessageId}: of its room's URI, and of the UUID that
 * it is sent under.
 */
export function olderMessageId(room: string, messageId: string): Uint8Array {
  return messageIdOf(sha256(utf8(`sinetti v1${room}${messageId}`)));
}

function messageIdOf(hash: Uint8Array): Uint8Array {
  const id = new Uint8Array(MIMI_MESSAGE_ID_LENGTH);
  id[0] = 1;
  id.set(hash.subarray(0, MIMI_MESSAGE_ID_LENGTH - 1), 1);
  return id;
}

function readPart(r: CborReader, depth: number, left: { parts: number }): NestedPart {
  if (depth < 1) throw new CryptoError('malformed', 'parts nested too deeply');
  left.parts -= 1;
  if (left.parts < 0) throw new CryptoError('unsupported', `more than ${MAX_PARTS} parts`);
  const length = r.array();
  const disposition = r.unsigned(MAX_U8);
  const language = r.text();
  const cardinality = r.unsigned(MAX_U8);
  const kind = kindOf(cardinality);
  if (length !== PART_LENGTH[kind]) throw new CryptoError('malformed', 'length of a part');
  const part = { disposition, language };
  switch (kind) {
    case 'null':
      return { ...part, kind };
    case 'single':
      return { ...part, kind, contentType: r.text(), content: r.bytes() };
    case 'external':
      return {
        ...part,
        kind,
        contentType: r.text(),
        url: r.text(),
        expires: r.unsigned(MAX_U32),
        size: r.unsigned(Number.MAX_SAFE_INTEGER),
        encAlg: r.unsigned(MAX_U16),
        key: r.bytes(),
        nonce: r.bytes(),
        aad: r.bytes(),
        hashAlg: r.unsigned(MAX_U8),
        contentHash: r.bytes(),
        description: r.text(),
        filename: r.text(),
      };
    case 'multi': {
      const semantics = SEMANTICS[r.unsigned(MAX_U8)];
      if (semantics === undefined) throw new CryptoError('unsupported', 'part semantics');
      const count = r.array();
      if (count < 2) throw new CryptoError('malformed', 'several parts that are fewer than two');
      const parts: NestedPart[] = [];
      for (let index = 0; index < count; index += 1) parts.push(readPart(r, depth - 1, left));
      return { ...part, kind, semantics, parts };
    }
    default:
      throw kind satisfies never;
  }
}

function kindOf(cardinality: number): NestedPart['kind'] {
  for (const kind of ['null', 'single', 'external', 'multi'] as const) {
    if (CARDINALITY[kind] === cardinality) return kind;
  }
  throw new CryptoError('unsupported', 'cardinality of a part');
}

function writePart(w: CborWriter, part: NestedPart, depth: number, left: { parts: number }): void {
  left.parts -= 1;
  if (depth < 1 || left.parts < 0)
    throw new CryptoError('usage', 'more parts, or deeper ones, than anybody would accept');
  w.array(PART_LENGTH[part.kind]);
  w.unsigned(part.disposition, MAX_U8);
  w.text(part.language);
  w.unsigned(CARDINALITY[part.kind], MAX_U8);
  switch (part.kind) {
    case 'null':
      return;
    case 'single':
      w.text(part.contentType);
      w.bytes(part.content);
      return;
    case 'external':
      w.text(part.contentType);
      w.text(part.url);
      w.unsigned(part.expires, MAX_U32);
      w.unsigned(part.size, Number.MAX_SAFE_INTEGER);
      w.unsigned(part.encAlg, MAX_U16);
      w.bytes(part.key);
      w.bytes(part.nonce);
      w.bytes(part.aad);
      w.unsigned(part.hashAlg, MAX_U8);
      w.bytes(part.contentHash);
      w.text(part.description);
      w.text(part.filename);
      return;
    case 'multi':
      if (part.parts.length < 2) throw new CryptoError('usage', 'several parts that are fewer than two');
      w.unsigned(SEMANTICS.indexOf(part.semantics), MAX_U8);
      w.array(part.parts.length);
      for (const nested of part.parts) writePart(w, nested, depth - 1, left);
  }
}

function isExtensionName(name: number | string): boolean {
  // Zero is neither a registered number nor a private one.
  if (typeof name === 'number') return name !== 0;
  const { length } = utf8(name);
  return length > 0 && length <= MAX_EXTENSION_NAME;
}

function expectItems(r: CborReader, count: number): void {
  if (r.array() !== count) throw new CryptoError('malformed', 'length of MIMI content');
}

function octets(r: CborReader, length: number): Uint8Array {
  const bytes = r.bytes();
  if (bytes.length !== length) throw new CryptoError('malformed', 'length in MIMI content');
  return bytes;
}

function readMessageId(r: CborReader): Uint8Array {
  return octets(r, MIMI_MESSAGE_ID_LENGTH);
}

function writeMessageId(w: CborWriter, id: Uint8Array): void {
  if (id.length !== MIMI_MESSAGE_ID_LENGTH) throw new CryptoError('usage', 'length of a message id');
  w.bytes(id);
}

function readExpiration(r: CborReader): Expiration {
  expectItems(r, 2);
  return { relative: r.boolean(), time: r.unsigned(MAX_U32) };
}
