import type { FileSink } from '../../lib/fileSink.ts';

/** Characters. What is kept in memory of a file, and what the page does between two breaths. */
export const pieceLength = 256 * 1024;

/** Text on its way into a file: it leaves in pieces, after each of which the page gets its turn. */
export interface Pieces {
  add(text: string): Promise<void>;
  /** Resolves once everything added so far is in the file. */
  flush(): Promise<void>;
}

export function createPieces(file: FileSink): Pieces {
  let waiting: string[] = [];
  let length = 0;

  async function flush(): Promise<void> {
    if (length === 0) return;
    const piece = waiting.join('');
    waiting = [];
    length = 0;
    await file.write(piece);
  }

  return {
    async add(text) {
      waiting.push(text);
      length += text.length;
      if (length < pieceLength) return;
      await flush();
      await nextTurn();
    },
    flush,
  };
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
