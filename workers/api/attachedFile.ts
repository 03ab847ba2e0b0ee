import type { WireBytes } from '../codec/base64url.ts';

export const fileKinds = ['picture', 'film', 'audio', 'voice', 'file'] as const;
/** The way in which a file is shown: `file` is anything that is only downloaded. */
export type FileKind = (typeof fileKinds)[number];

export const previewTypes = ['image/jpeg', 'image/png', 'image/webp'] as const;

/** The largest value of a waveform. */
export const LOUDEST = 31;

/** A blob's id, in base64url of 16 bytes. */
export const BLOB_ID = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** A small picture that travels in the message. */
export interface FilePreview {
  readonly type: (typeof previewTypes)[number];
  /** At most 8 KiB. */
  readonly bytes: WireBytes;
}

/** The facts of a file that its sender tells. None of them decides what a browser makes of its bytes. */
export interface FileFacts {
  /** Without a path, control characters and marks of direction: at most 255 UTF-16 units. */
  readonly name: string;
  /** A media type without parameters, of those that are known; `application/octet-stream` for all others. */
  readonly type: string;
  readonly kind: FileKind;
  /** In words, for who doesn't see it; empty where its sender gave none. */
  readonly description: string;
  /** Pixels of a picture or film. */
  readonly width?: number;
  readonly height?: number;
  /** Milliseconds of a recording or film. */
  readonly duration?: number;
  /** 64 values from 0 to 31. */
  readonly waveform?: readonly number[];
  readonly preview?: FilePreview;
}

/** A file of a message. */
export interface AttachedFile extends FileFacts {
  /** Bytes. */
  readonly size: number;
}
