/**
 * Files in MIMI content (PROTOCOL section 4): an external part for each, one by itself or several with a caption before
 * them and a preview behind each that has one. Their measures are an extension, which says nothing of what other clients need.
 */
import {
  type CborValue,
  DISPOSITION,
  type ExternalPart,
  FILE_KEY_LENGTH,
  type MimiContent,
  type NestedPart,
  type SinglePart,
} from '@sinetti/crypto-core/content';
import {
  type AttachedFile,
  BLOB_ID,
  type FileKind,
  type FilePreview,
  LOUDEST,
  previewTypes,
} from '../api/attachedFile.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { GuardFailure } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';

/** AEAD_CHACHA20_POLY1305 of IANA's registry, in the chunks that the payload of age has. */
const CHACHA20_POLY1305 = 29;
/** SHA-256 of the named information registry. */
const SHA_256 = 1;
const HASH_LENGTH = 32;
const MEASURES = 'sinetti-files';
const SCHEME = 'sinetti:blob/';
const ANY_TYPE = 'application/octet-stream';

/** Types that browsers show without running any of it. */
const shownTypes: Readonly<Record<'picture' | 'film' | 'audio', readonly string[]>> = {
  picture: ['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp'],
  film: ['video/mp4', 'video/webm'],
  audio: ['audio/mp4', 'audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/webm'],
};

/** The keys to a file at the relay: never told to the page, but for the blob's id. */
export interface SealedAttachment {
  readonly blobId: string;
  readonly key: Uint8Array;
  /** SHA-256 of the sealed file. */
  readonly hash: Uint8Array;
  /** Bytes of the file before it was padded and sealed. */
  readonly size: number;
}

export interface Attachments {
  readonly files: readonly AttachedFile[];
  /** In the same order. */
  readonly sealed: readonly SealedAttachment[];
  /** Null without one. */
  readonly caption: SinglePart | null;
}

/** The files of a message to send, each with what opens it. */
export interface OutgoingFile
  extends SealedAttachment,
    Pick<AttachedFile, 'description' | 'kind' | 'name' | 'type'> {
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly duration: number | undefined;
  readonly waveform: readonly number[] | undefined;
  readonly preview: { readonly type: FilePreview['type']; readonly bytes: Uint8Array } | null;
}

/** Makes the content's body of files and a caption, null for none, and the extension with their measures. */
export function filesBody(
  files: readonly OutgoingFile[],
  caption: SinglePart | null,
): Pick<MimiContent, 'body' | 'extensions'> {
  const parts: NestedPart[] = caption === null ? [] : [caption];
  for (const file of files) {
    parts.push(externalPart(file));
    if (file.preview !== null) parts.push(part(DISPOSITION.preview, file.preview.type, file.preview.bytes));
  }
  const [only] = parts;
  const body: NestedPart =
    parts.length === 1 && only !== undefined
      ? only
      : { kind: 'multi', disposition: DISPOSITION.render, language: '', semantics: 'processAll', parts };
  const measures = files.map(
    ({ duration, height, waveform, width }): CborValue => [
      width ?? null,
      height ?? null,
      duration ?? null,
      waveform === undefined ? null : Uint8Array.from(waveform),
    ],
  );
  return { body, extensions: new Map([[MEASURES, measures]]) };
}

/**
 * Reads the files of a message; null where it is none of files, or of such as another client sends in another way.
 * @throws GuardFailure for one that claims to be of ours and breaks its rules
 */
export function readAttachments({ body, extensions }: MimiContent): Attachments | null {
  const parts = partsOf(body);
  if (parts === null) return null;
  const [first, ...others] = parts;
  const caption = first?.kind === 'single' ? first : null;
  const found: { part: ExternalPart; preview: SinglePart | null }[] = [];
  for (const one of caption === null ? parts : others) {
    const last = found.at(-1);
    if (one.kind === 'external') found.push({ part: one, preview: null });
    else if (isPreview(one) && last?.preview === null) last.preview = one;
    else return null;
  }
  if (found.length === 0 || !found.every((one) => isOurs(one.part))) return null;
  if (found.length > limits.filesPerMessage) throw new GuardFailure('number of files');
  const measures = readMeasures(extensions.get(MEASURES), found.length);
  return {
    caption,
    files: found.map((one, index) => fileOf(one.part, one.preview, measures[index] ?? {})),
    sealed: found.map((one) => sealedOf(one.part)),
  };
}

/**
 * Returns a name as it may be shown: no path, no control characters, no marks that turn the direction of what follows, by which
 * `exe.gpj` would read as something else.
 */
export function shownName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu, '');
  return cut(clean.trim(), limits.fileName);
}

/** Returns a media type without parameters; the one of any bytes for each that isn't known here. */
function knownType(type: string): string {
  const essence = (type.split(';')[0] ?? '').trim().toLowerCase();
  const isKnown = Object.values(shownTypes).flat().includes(essence);
  return isKnown ? essence : ANY_TYPE;
}

function partsOf(body: NestedPart): readonly NestedPart[] | null {
  if (body.kind === 'external') return [body];
  return body.kind === 'multi' && body.semantics === 'processAll' ? body.parts : null;
}

function part(disposition: number, contentType: string, content: Uint8Array): SinglePart {
  return { kind: 'single', disposition, language: '', contentType, content };
}

function externalPart(file: OutgoingFile): ExternalPart {
  return {
    kind: 'external',
    disposition: file.kind === 'file' ? DISPOSITION.attachment : DISPOSITION.render,
    language: '',
    contentType: knownType(file.type),
    url: `${SCHEME}${file.blobId}`,
    expires: 0,
    size: file.size,
    encAlg: CHACHA20_POLY1305,
    key: file.key,
    nonce: new Uint8Array(),
    aad: new Uint8Array(),
    hashAlg: SHA_256,
    contentHash: file.hash,
    description: shownDescription(file.description),
    filename: shownName(file.name),
  };
}

function isPreview(one: NestedPart): one is SinglePart {
  return one.kind === 'single' && one.disposition === DISPOSITION.preview;
}

/** Other clients may keep files elsewhere, and seal them in other ways. */
function isOurs({ encAlg, hashAlg, url }: ExternalPart): boolean {
  return url.startsWith(SCHEME) && encAlg === CHACHA20_POLY1305 && hashAlg === SHA_256;
}

function sealedOf({ aad, contentHash, key, nonce, size, url }: ExternalPart): SealedAttachment {
  const blobId = url.slice(SCHEME.length);
  const isWhole = key.length === FILE_KEY_LENGTH && contentHash.length === HASH_LENGTH;
  if (!BLOB_ID.test(blobId) || !isWhole || nonce.length > 0 || aad.length > 0)
    throw new GuardFailure('sealed file');
  if (size > limits.fileSize) throw new GuardFailure('size of a file');
  return { blobId, key, hash: contentHash, size };
}

function fileOf(
  { contentType, description, disposition, filename, size }: ExternalPart,
  preview: SinglePart | null,
  measures: Measures,
): AttachedFile {
  const type = knownType(contentType);
  return {
    name: shownName(filename),
    type,
    size,
    kind: disposition === DISPOSITION.render ? kindOf(type, measures) : 'file',
    description: shownDescription(description),
    ...measures,
    ...(preview === null ? {} : { preview: previewOf(preview) }),
  };
}

function kindOf(type: string, { waveform }: Measures): FileKind {
  if (shownTypes.picture.includes(type)) return 'picture';
  if (shownTypes.film.includes(type)) return 'film';
  if (!shownTypes.audio.includes(type)) return 'file';
  return waveform === undefined ? 'audio' : 'voice';
}

function shownDescription(description: string): string {
  return cut(description.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim(), limits.fileDescription);
}

/** Cuts a text to so many UTF-16 units, and never through a character. */
function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

function previewOf({ content, contentType }: SinglePart): FilePreview {
  const type = previewTypes.find((known) => known === contentType);
  if (type === undefined || content.length > limits.filePreview) throw new GuardFailure('preview');
  return { type, bytes: toBase64Url(content) };
}

type Measures = Pick<AttachedFile, 'duration' | 'height' | 'waveform' | 'width'>;

/** @throws GuardFailure for measures of other files than the message has */
function readMeasures(value: CborValue | undefined, count: number): readonly Measures[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length !== count) throw new GuardFailure('measures');
  return value.map((one: CborValue): Measures => {
    if (!Array.isArray(one) || one.length !== 4) throw new GuardFailure('measures');
    const [width, height, duration, given] = one as readonly CborValue[];
    const waveform = readWaveform(given);
    return {
      ...measure('width', width, limits.pictureSide),
      ...measure('height', height, limits.pictureSide),
      ...measure('duration', duration, limits.recording),
      ...(waveform === undefined ? {} : { waveform }),
    };
  });
}

function measure(
  name: 'duration' | 'height' | 'width',
  value: CborValue | undefined,
  most: number,
): Partial<Record<typeof name, number>> {
  if (value === null) return {};
  if (typeof value !== 'number' || value < 1 || value > most) throw new GuardFailure(name);
  return { [name]: value };
}

/** Undefined for one that breaks its rules: it is decoration, for which no message is lost. */
function readWaveform(value: CborValue | undefined): readonly number[] | undefined {
  if (!(value instanceof Uint8Array) || value.length !== limits.waveform) return undefined;
  return value.some((loudness) => loudness > LOUDEST) ? undefined : [...value];
}
