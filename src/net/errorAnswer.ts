import * as z from 'zod/mini';
import { visibleName } from '../lib/people.ts';
import { ErrorBody, type ErrorCode } from './contract.ts';
import { ApiError, type ApiErrorCode } from './errors.ts';

/** In code units. A sentence for a person is shorter; what is longer is a stack or a page. */
const detailMax = 300;

const CodedBody = z.partial(ErrorBody, { detail: true });
const DetailedBody = z.pick(ErrorBody, { detail: true });

const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'payload-too-large',
  429: 'rate-limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

function codeFor(status: number): ApiErrorCode {
  if (status < 400) return 'invalid-response';
  return codeOfStatus[status] ?? (status >= 500 ? 'internal' : 'invalid-request');
}

/** One line without invisible marks; null for what is no sentence. */
function sentenceOf(detail: string | undefined): string | null {
  if (detail === undefined || detail.length > detailMax) return null;
  return visibleName(detail.replace(/\s+/g, ' ')) || null;
}

/**
 * Reads the error that an unsuccessful answer carries.
 * @param body its JSON; undefined when it is none
 */
export function readErrorAnswer(status: number, body: unknown): ApiError {
  const coded = CodedBody.safeParse(body);
  if (coded.success) {
    const { code, copied, detail, epoch } = coded.data;
    // An invalid request is the client's fault, so its detail is for developers: the person has met the client's own
    // checks.
    const sentence = code === 'invalid-request' ? null : sentenceOf(detail);
    return new ApiError({ status, code, detail: sentence, epoch, copied });
  }
  const detailed = DetailedBody.safeParse(body);
  const detail = detailed.success ? sentenceOf(detailed.data.detail) : null;
  return new ApiError({ status, code: codeFor(status), detail, isForeign: true });
}
