/**
 * Unpadded base64url (RFC 4648 section 5), in which the page and the worker have bytes. Megabytes are turned piece by piece: all at
 * once they would hold the page up.
 */

/** Bytes that are turned at a stretch: a few milliseconds of a slow phone. A multiple of three, so that the pieces make one text. */
export const pieceLength = 3 * 2 ** 15;
/** Arguments of a call, which have a limit. */
const argumentsMax = 2 ** 13;

export async function bytesOf(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  const characters = (pieceLength / 3) * 4;
  for (let from = 0, at = 0; from < text.length; from += characters, at += pieceLength) {
    if (from > 0) await nextTask();
    const piece = text.slice(from, from + characters);
    const binary = atob(piece.replaceAll('-', '+').replaceAll('_', '/'));
    for (let index = 0; index < binary.length; index += 1) bytes[at + index] = binary.charCodeAt(index);
  }
  return bytes;
}

export async function textOf(bytes: Uint8Array): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += pieceLength) {
    if (from > 0) await nextTask();
    pieces.push(btoa(binaryOf(bytes.subarray(from, from + pieceLength))));
  }
  return pieces.join('').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function binaryOf(bytes: Uint8Array): string {
  let binary = '';
  for (let from = 0; from < bytes.length; from += argumentsMax) {
    binary += String.fromCharCode(...bytes.subarray(from, from + argumentsMax));
  }
  return binary;
}

/** Lets other tasks of the page go first. Not by a timer: those of a hidden tab come once a second, and later once a minute. */
function nextTask(): Promise<void> {
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
