import type { FileSink } from '../../src/lib/fileSink.ts';

/** A file that a test can look into. */
export class MemoryFile implements FileSink {
  readonly pieces: string[] = [];
  outcome: 'open' | 'closed' | 'aborted' = 'open';
  /** Before a piece is taken. */
  onWrite: () => void | Promise<void> = () => undefined;

  async write(text: string): Promise<void> {
    await this.onWrite();
    this.pieces.push(text);
  }

  async close(): Promise<void> {
    this.outcome = 'closed';
  }

  async abort(): Promise<void> {
    this.outcome = 'aborted';
    this.pieces.length = 0;
  }

  get text(): string {
    return this.pieces.join('');
  }
}
