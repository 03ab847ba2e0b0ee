/** Codes of failures, which stay the same when their sentences change. */
export type FailureCode =
  /** Not an address of a relay, or an argument that is not understood. */
  | 'usage'
  /** Nothing answered, or it answered with an error. */
  | 'unreachable'
  /** The relay serves no signed releases. */
  | 'unsigned'
  /** Bytes that are no statement, or no signature, in the form that is asked for. */
  | 'malformed'
  /** Too few signatures by the keys in force. */
  | 'signature'
  /** A step that doesn't follow the one before it, or a chain from another root. */
  | 'chain'
  /** An older release than was seen before, or another one in its place. */
  | 'rollback'
  /** A file or a header that is not the release's. */
  | 'different'
  /** A release that the person who uses this browser has not agreed to yet. */
  | 'agreement';

export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = 'Failure';
    this.code = code;
  }
}
