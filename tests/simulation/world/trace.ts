import { createHash } from 'node:crypto';
import { worldNow } from '../seams/time.ts';

/** All that passed between clients and relay, as one hash: the same for the same seed. */
export class Trace {
  #hash = createHash('sha256');
  readonly lines: string[] = [];
  /** Keeps the lines too, for whoever reads a run. */
  isKept = false;

  note(what: string, content = ''): void {
    this.#hash.update(`${worldNow()} ${what}\n${content}\n`);
    if (this.isKept) this.lines.push(`${new Date(worldNow()).toISOString().slice(11, 23)} ${what}`);
  }

  /** The hash so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
