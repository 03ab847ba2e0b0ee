import {
  type BlobErrorCode,
  blobErrors,
  blobHeaders,
  blobPath,
  blobsPath,
  blobType,
  tusVersion,
  uploadType,
} from '../../contract/blobs.ts';
import { blobId } from './examples/values.ts';
import type { Content, Operation, Parameter, Response } from './operation.ts';

const header = (name: string, example: string, required = true): Parameter => ({
  name,
  in: 'header',
  required,
  schema: { type: 'string' },
  example,
});
const version = header(blobHeaders.resumable, tusVersion);
const id: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { $ref: '#/components/schemas/BlobId' },
  example: blobId,
};
const bytesAs = (type: typeof blobType | typeof uploadType): Content => ({ [type]: { schema: {} } });

interface BlobCall extends Pick<Operation, 'operationId' | 'summary' | 'requestBody'> {
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly errors: readonly BlobErrorCode[];
  readonly responses: Readonly<Record<string, Response>>;
}

const upload = `Answers have ${blobHeaders.offset}, and ${blobHeaders.expires} until the upload is whole.`;

/** The calls of files (contract/blobs.ts), which have headers and bytes in the place of schemas. */
const calls: Readonly<Record<string, Readonly<Record<string, BlobCall>>>> = {
  [blobsPath]: {
    post: {
      operationId: 'createBlob',
      summary: 'Create an upload of so many bytes, by tus 1.0; the body may have the first of them',
      description: `Its address is in Location. ${upload} Headers that say more of a file than its length are refused.`,
      parameters: [version, header(blobHeaders.length, '65568')],
      requestBody: { required: false, content: bytesAs(uploadType) },
      errors: blobErrors.create,
      responses: { 201: { description: 'Created' } },
    },
  },
  [blobPath('{id}')]: {
    head: {
      operationId: 'lookAtBlob',
      summary: 'How far one’s own upload has come, by tus 1.0; or the headers of a file',
      description: `With ${blobHeaders.resumable} the answer is of one’s own upload, whole or not, and ends a call that is writing it. ${upload} Without, it has the headers of GET.`,
      parameters: [id, header(blobHeaders.resumable, tusVersion, false)],
      errors: [...blobErrors.look, 'range-not-satisfiable'],
      responses: { 200: { description: 'Success' } },
    },
    patch: {
      operationId: 'appendToBlob',
      summary: 'Append bytes to one’s own upload, by tus 1.0',
      description: `What has come counts, even where the connection breaks off. ${upload}`,
      parameters: [id, version, header(blobHeaders.offset, '0')],
      requestBody: { required: true, content: bytesAs(uploadType) },
      errors: blobErrors.append,
      responses: { 204: { description: 'Success' } },
    },
    delete: {
      operationId: 'deleteBlob',
      summary: 'End one’s own upload, or delete one’s own file',
      parameters: [id, version],
      errors: blobErrors.delete,
      responses: { 204: { description: 'Success' } },
    },
    get: {
      operationId: 'readBlob',
      summary: 'The bytes of a file that is whole, or one range of them, for who knows its id',
      parameters: [
        id,
        header('range', 'bytes=0-65551', false),
        header('if-range', '"65568"', false),
        header('if-none-match', '"65568"', false),
      ],
      errors: blobErrors.read,
      responses: {
        200: { description: 'The whole', content: bytesAs(blobType) },
        206: { description: 'A range', content: bytesAs(blobType) },
        304: { description: 'It is what the request has the tag of' },
      },
    },
  },
};

/**
 * The same as operations of the document.
 * @param refusals makes the answers of codes
 */
export function blobOperations(
  refusals: (codes: readonly BlobErrorCode[]) => Readonly<Record<string, Response>>,
): Record<string, Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(calls).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, { errors, responses, description = '', ...call }]) => [
          method,
          {
            ...call,
            tags: ['Files'],
            description: `For who is signed in. ${description}`.trim(),
            security: [{ token: [] }],
            responses: { ...responses, ...refusals(errors) },
          },
        ]),
      ),
    ]),
  );
}
