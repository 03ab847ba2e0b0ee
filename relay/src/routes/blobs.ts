import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import {
  BlobId,
  blobHeaders,
  blobPath,
  blobsPath,
  blobType,
  tusVersion,
  uploadType,
} from '../../contract/blobs.ts';
import type { Session } from '../auth/session.ts';
import type { Upload } from '../blobs/blobs.ts';
import { ApiError } from '../errors.ts';
import { byteRangeOf } from '../http/byteRange.ts';
import { admitPerson, type Handlers } from '../http/contractRoutes.ts';
import { matches } from '../http/entityTags.ts';
import type { Share } from '../rateLimits/rateLimiter.ts';
import type { Services } from '../services.ts';

export function blobHandlers({ blobs }: Services) {
  return { getBlobStorage: ({ session }) => blobs.storage(session) } satisfies Partial<Handlers>;
}

/** The methods of tus at paths of the contract's other calls. */
export const methodsOfBlobs: ReadonlyMap<string, readonly HTTPMethods[]> = new Map([
  [blobsPath, ['POST']],
  [blobPath(':id'), ['GET', 'PATCH', 'DELETE']],
]);

const extensions = 'creation,creation-with-upload,expiration,termination';
/** Nothing of a file but its length is told to the relay, once, and before any of its bytes. */
const refusedHeaders = [
  'upload-metadata',
  'upload-defer-length',
  'upload-concat',
  'upload-checksum',
  'x-http-method-override',
];

/** A file never changes. A browser that is logged out has what it kept, which opens for nobody without its key. */
const caching = 'private, max-age=86400, immutable';

const inKiB = (bytes: number) => Math.ceil(bytes / 1024);
const uploadShare = (userId: string, bytes: number): Share => ['blob-upload.account', userId, inKiB(bytes)];

/** Serves tus 1.0 and the reading of files (contract/blobs.ts), below the prefix of `app`. */
export function serveBlobs(app: FastifyInstance, services: Services): void {
  const { blobs, diskReserve, rateLimiter, config } = services;

  const people = async (request: FastifyRequest) => {
    request.session = await admitPerson(services, request, false);
  };
  const ofTus = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header(blobHeaders.resumable, tusVersion);
    if (request.headers[blobHeaders.resumable] === tusVersion) return;
    reply.header(blobHeaders.version, tusVersion);
    throw new ApiError('unsupported-version', `This address takes tus ${tusVersion}.`);
  };
  const uploading = {
    onRequest: [people, ofTus],
    // A body of which nobody reads the rest would keep its connection from the next request.
    onError: async (request: FastifyRequest) => void request.raw.resume(),
    config: { bodyType: uploadType },
  };

  for (const path of [blobsPath, blobPath(':id')]) {
    app.options(path, (_request, reply) =>
      reply
        .code(204)
        .headers({
          [blobHeaders.resumable]: tusVersion,
          [blobHeaders.version]: tusVersion,
          [blobHeaders.extension]: extensions,
          [blobHeaders.maxSize]: String(config.blobs.maxBytes),
        })
        .send(),
    );
  }

  app.post(blobsPath, uploading, async (request, reply) => {
    for (const name of refusedHeaders) {
      if (name in request.headers) throw new ApiError('invalid-request', `${name}: not taken here`);
    }
    const length = numberOf(request, blobHeaders.length, 1);
    const [session, body] = [sessionOf(request), bodyOf(request)];
    const { userId } = session;
    const announced = announcedOf(request);
    if (announced !== null && announced > length) {
      throw new ApiError('payload-too-large', 'The file is longer than was announced.');
    }
    await rateLimiter.take(['blob-create.account', userId]);
    diskReserve.requireRoom();
    const share = uploadShare(userId, Math.min(length, config.blobs.maxBytes));
    await rateLimiter.take(share);
    const upload = await rateLimiter.orGiveBack([share], () => blobs.create(session, length));
    reply.header('location', `/api${blobPath(upload.id)}`);
    if (body === null) return setUpload(reply, upload).code(201).send();
    const appended = await blobs.append(userId, upload.id, { offset: 0, announced, source: body });
    return setUpload(reply, appended).code(201).send();
  });

  app.patch<ById>(blobPath(':id'), uploading, async (request, reply) => {
    const source = bodyOf(request);
    if (source === null) throw new ApiError('unsupported-media-type', `Send the bytes as ${uploadType}.`);
    const offset = numberOf(request, blobHeaders.offset, 0);
    const upload = await blobs.append(userOf(request), idOf(request), {
      offset,
      announced: announcedOf(request),
      source,
    });
    return setUpload(reply, upload).code(204).send();
  });

  app.delete<ById>(blobPath(':id'), { onRequest: [people, ofTus] }, async (request, reply) => {
    const userId = userOf(request);
    const unsent = await blobs.delete(userId, idOf(request));
    if (unsent > 0) await rateLimiter.giveBack(uploadShare(userId, unsent));
    return reply.code(204).send();
  });

  /** Before that of GET, which Fastify would make one for by itself. */
  app.head<ById>(blobPath(':id'), { onRequest: [people] }, async (request, reply) => {
    if (!(blobHeaders.resumable in request.headers)) return read(request, reply);
    await ofTus(request, reply);
    const upload = await blobs.look(userOf(request), idOf(request));
    return setUpload(reply, upload).header(blobHeaders.length, String(upload.length)).code(200).send();
  });

  app.get<ById>(blobPath(':id'), { onRequest: [people] }, (request, reply) => read(request, reply));

  async function read(request: FastifyRequest<ById>, reply: FastifyReply): Promise<FastifyReply> {
    const id = idOf(request);
    const length = await blobs.lengthOf(id);
    // One address has one content.
    const etag = `"${length}"`;
    const headers = { etag, 'accept-ranges': 'bytes', 'cache-control': caching };
    const { range: header, 'if-none-match': known, 'if-range': condition = etag } = request.headers;
    if (known !== undefined && matches(known, etag)) return reply.code(304).headers(headers).send();
    const range = header === undefined || condition !== etag ? null : byteRangeOf(header, length);
    if (range === 'unsatisfiable') {
      reply.header('content-range', `bytes */${length}`);
      throw new ApiError('range-not-satisfiable', 'The file has no such bytes.');
    }
    const { start, end } = range ?? { start: 0, end: length - 1 };
    const bytes = end - start + 1;
    const isHead = request.method === 'HEAD';
    if (!isHead) await rateLimiter.take(['blob-download.account', userOf(request), inKiB(bytes)]);
    const stream = isHead ? undefined : await blobs.read(userOf(request), id, { start, end });
    reply.headers({ ...headers, 'content-type': blobType, 'content-length': String(bytes) });
    if (range !== null) reply.header('content-range', `bytes ${start}-${end}/${length}`);
    return reply.code(range === null ? 200 : 206).send(stream);
  }
}

interface ById {
  readonly Params: { readonly id: string };
}

/** @throws ApiError not-found for what is no id, as for one that nothing has */
function idOf({ params: { id } }: FastifyRequest<ById>): string {
  if (BlobId.safeParse(id).success) return id;
  throw new ApiError('not-found', 'There is no such file.');
}

function sessionOf({ session }: FastifyRequest): Session {
  if (session === null) throw new ApiError('unauthenticated', 'Please log in.');
  return session;
}

const userOf = (request: FastifyRequest) => sessionOf(request).userId;

/** The bytes of an upload as they come; null without a body. */
const bodyOf = ({ body }: FastifyRequest) => (body instanceof Readable ? body : null);

/** The bytes that a request says it has; null if it doesn't say. */
function announcedOf({ headers }: FastifyRequest): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/** @throws ApiError invalid-request unless a header is a whole number, written in the one way there is */
function numberOf({ headers }: FastifyRequest, name: string, min: number): number {
  const text = headers[name];
  if (typeof text === 'string' && /^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min)
    return Number(text);
  throw new ApiError('invalid-request', `${name}: not a whole number from ${min}`);
}

function setUpload(reply: FastifyReply, { offset, expiresAt }: Upload): FastifyReply {
  reply.header(blobHeaders.offset, String(offset));
  return expiresAt === null ? reply : reply.header(blobHeaders.expires, new Date(expiresAt).toUTCString());
}
