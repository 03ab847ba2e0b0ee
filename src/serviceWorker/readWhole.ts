import { Failure } from '../../verify/src/chain/errors.ts';

/** Bytes of the largest file that is looked at: a step of the chain, a service worker's script, the operator's settings. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Reads an answer to its end, and no further than any that is taken.
 * @throws Failure `unreachable` for an answer without success, and one that breaks off; `chain` for one that is too long
 */
export async function readWhole(answer: Response, name: string): Promise<Uint8Array> {
  if (!answer.ok) throw new Failure('unreachable', `${name} answers ${answer.status}.`);
  const reader = answer.body?.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const piece = await reader?.read().catch(() => {
      throw new Failure('unreachable', `${name} breaks off.`);
    });
    if (piece?.value === undefined) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    pieces.push(piece.value);
    length += piece.value.length;
    if (length <= mostBytes) continue;
    // An answer without an end would fill the memory.
    void reader?.cancel().catch(() => undefined);
    throw new Failure('chain', `${name} is longer than any that is taken.`);
  }
}
