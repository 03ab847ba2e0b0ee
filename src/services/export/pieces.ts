/** Characters. What is kept in memory of a text, and what the page does between two breaths. */
export const pieceLength = 256 * 1024;

/** Gathers a text on its way into a file: it leaves in pieces, after each of which the page gets its turn. */
export async function* inPieces(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting: string[] = [];
  let length = 0;
  for await (const part of parts) {
    waiting.push(part);
    length += part.length;
    if (length < pieceLength) continue;
    yield waiting.join('');
    waiting = [];
    length = 0;
    await nextTurn();
  }
  if (length > 0) yield waiting.join('');
}

/** Lets the page do what waits. Unlike a timer this isn't slowed down while the page is out of sight. */
function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    const onTurn = () => {
      port1.close();
      resolve();
    };
    port1.addEventListener('message', onTurn);
    port1.start();
    port2.postMessage(null);
  });
}
