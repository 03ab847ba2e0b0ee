import type { FileSink } from '../../src/lib/fileSink.ts';

/** A file that a test can look into. */
export class MemoryFile implements FileSink {
  /** As they were written; the bytes of an archive are in {@link chunks}. */
  readonly pieces: string[] = [];
  readonly chunks: ArrayBuffer[] = [];
  outcome: 'open' | 'closed' | 'aborted' = 'open';
  /** Before a piece is taken. */
  onWrite: () => void | Promise<void> = () => undefined;

  async write(piece: string | ArrayBuffer): Promise<void> {
    await this.onWrite();
    if (typeof piece === 'string') this.pieces.push(piece);
    else this.chunks.push(piece);
  }

  async close(): Promise<void> {
    this.outcome = 'closed';
  }

  async abort(): Promise<void> {
    this.outcome = 'aborted';
    this.pieces.length = 0;
    this.chunks.length = 0;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks.map((chunk) => new Uint8Array(chunk)));
  }

  get text(): string {
    return this.pieces.join('');
  }
}
