import * as z from 'zod/mini';
import { ErrorBody, type ErrorCode, errorCodes } from './errors.ts';
import { bytesType, intFrom } from './primitives.ts';
import { defineRoute } from './route.ts';

/**
 * Files, sealed by who sends them, and kept apart from messages. Uploading is tus 1.0 (https://tus.io/protocols/resumable-upload) with
 * creation, creation-with-upload, expiration and termination, below /api:
 *
 * ```
 * OPTIONS /blobs        what there is of tus, and the largest file; for anybody
 * POST    /blobs        creates an upload of `Upload-Length` bytes; 201 with its `Location`, and `Upload-Offset` where the body had bytes
 * HEAD    /blobs/{id}   with `Tus-Resumable`: how far one's own upload has come; without: the headers of GET
 * PATCH   /blobs/{id}   appends at `Upload-Offset`; 204 with the next
 * GET     /blobs        the limits, and the uploads that one's device has begun (getBlobStorage)
 * DELETE  /blobs/{id}   ends one's own upload, or deletes one's own file
 * GET     /blobs/{id}   the bytes of a whole file, or one range of them, for anybody who is signed in and knows its id
 * ```
 *
 * All but OPTIONS take the session's token. POST, PATCH and DELETE take `Tus-Resumable: 1.0.0`. Refusals are the contract's
 * `{detail, code}` (BlobErrorBody). Metadata, deferred lengths and concatenation are refused: the relay is told a length, and nothing else.
 *
 * A door of its own, `@sinetti/relay/contract/blobs`: a client loads it once it has to do with files.
 */
export const blobsPath = '/blobs';
export const blobPath = (id: string) => `${blobsPath}/${id}`;

/** 16 random bytes. Who knows the id of a file can read its bytes, so it is as secret as the message that names it. */
export const BlobId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{21}[AQgw]$/, 'not the base64url of 16 bytes'))
  .register(z.globalRegistry, { id: 'BlobId', examples: ['c2VhbGVkIGZpbGUsIG9uZQ'] });

export const tusVersion = '1.0.0';
/** The media type of the bytes of an upload. */
export const uploadType = 'application/offset+octet-stream';
/** The media type of a file's bytes, whatever they are of. */
export const blobType = bytesType;

/** Names of headers, as `Headers` of Fetch has them. Lengths and offsets are decimal numbers of bytes, times HTTP dates. */
export const blobHeaders = {
  resumable: 'tus-resumable',
  version: 'tus-version',
  extension: 'tus-extension',
  maxSize: 'tus-max-size',
  length: 'upload-length',
  offset: 'upload-offset',
  /** On answers to POST, PATCH and HEAD of an upload that is not whole: when it will be deleted, however far it is. */
  expires: 'upload-expires',
} as const;

/** Limits of uploads that no operator changes. */
export const uploadLimits = {
  /** Uploads of one person that are not whole. */
  unfinished: 8,
  /** Hours after which an upload that is not whole is deleted. */
  hours: 24,
  /**
   * The bytes that one PATCH should have at most: a request that takes longer than two minutes is cut off. What has come by then
   * counts, and HEAD says how much that is.
   */
  patchBytes: 4 * 1024 * 1024,
} as const;

/**
 * The codes of these calls alone, beside those that other calls have: apart from them, because the client knows those from its
 * start.
 */
export const blobErrorStatus = {
  /** The upload is not at this offset, or another call is writing it: HEAD says where it is. */
  'offset-conflict': 409,
  /** The upload was not finished in time. */
  gone: 410,
  /** Another relay is writing the upload, for half a minute after it was heard of last. */
  'upload-locked': 423,
  /** The call takes tus 1.0.0. */
  'unsupported-version': 412,
  /** The file has no such bytes. */
  'range-not-satisfiable': 416,
} as const;
export type BlobErrorCode = ErrorCode | keyof typeof blobErrorStatus;

/** The body of refusals of these calls. */
export const BlobErrorBody = z
  .extend(ErrorBody, {
    code: z.enum([...errorCodes, ...(Object.keys(blobErrorStatus) as (keyof typeof blobErrorStatus)[])]),
  })
  .register(z.globalRegistry, { id: 'BlobError' });
export type BlobErrorBody = z.infer<typeof BlobErrorBody>;

/**
 * The codes that they refuse with, beside those of every call for who is signed in. With `quota`: `blobs` (as much is kept as
 * is for one person), or `uploads` (as many are unfinished).
 */
export const blobErrors = {
  create: ['invalid-request', 'unsupported-version', 'unsupported-media-type', 'payload-too-large', 'quota'],
  /** `not-found` also for an upload of somebody else. */
  look: ['not-found', 'gone', 'unsupported-version'],
  append: [
    'invalid-request',
    'not-found',
    'gone',
    'offset-conflict',
    'upload-locked',
    'unsupported-version',
    'unsupported-media-type',
    'payload-too-large',
  ],
  /** `not-found` also for an upload that is not whole. */
  read: ['not-found', 'range-not-satisfiable'],
  delete: ['not-found', 'unsupported-version'],
} as const satisfies Record<string, readonly BlobErrorCode[]>;

/** The limits of this relay for files, and what it has of one's own. Sizes are bytes. */
export const BlobStorage = z
  .object({
    /** The largest file. */
    maxBlobBytes: intFrom(1),
    /** The days that a file is kept. */
    blobDays: intFrom(1),
    /** The most that is kept of one person, each file counted in whole blocks of 4 KiB. */
    quotaBytes: intFrom(1),
    /** One's own files, uploads that are not whole with their full length. */
    storedBlobs: intFrom(0),
    storedBytes: intFrom(0),
    /** The uploads that the session's device has begun and that are not whole, so that one whose id was lost on the way can be ended. */
    unfinished: z.array(z.object({ id: BlobId, length: intFrom(1) })),
  })
  .register(z.globalRegistry, { id: 'BlobStorage' });
export type BlobStorage = z.infer<typeof BlobStorage>;

export const getBlobStorage = defineRoute({
  method: 'GET',
  paths: [blobsPath],
  access: 'session',
  status: 200,
  response: BlobStorage,
  errors: [],
});
