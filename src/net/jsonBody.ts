/** Characters that become bytes at a stretch: a few milliseconds of a slow phone. */
export const pieceLength = 2 ** 18;

/**
 * A value as a request's body in JSON. Turning a text of megabytes into bytes (a commit that adds hundreds of people) is
 * the greatest part of sending it and would hold the page up: a long one is turned piece by piece, between other tasks.
 */
export async function jsonBody(value: unknown): Promise<string | Blob> {
  const text = JSON.stringify(value);
  if (text.length <= pieceLength) return text;
  const pieces: Blob[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from);
    pieces.push(new Blob([text.slice(from, to)]));
    from = to;
    await nextTask();
  }
  return new Blob(pieces);
}

/** Never between the halves of a surrogate pair. */
function endOfPiece(text: string, from: number): number {
  const to = from + pieceLength;
  return (text.codePointAt(to - 1) ?? 0) > 0xffff ? to + 1 : to;
}

/** Lets other tasks of the page go first. Not by a timer: those of a hidden tab come once a second, and later once a minute. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
