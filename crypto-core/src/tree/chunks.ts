/** A list of which a copy costs its chunks, and a change one of them: trees are copied with each commit, which changes little. */

/** A chunk has the indices that differ in so many bits, the last ones. */
export const CHUNK_BITS = 8;
const SIZE = 1 << CHUNK_BITS;
const MASK = SIZE - 1;

/** A list of so many items, or nulls, that shares with its clones what neither has changed since. */
export class Chunks<T> {
  readonly #chunks: (T | null)[][];
  /** Items in each chunk. */
  readonly #counts: number[];
  /** Chunks that no clone has. */
  #own = new Set<number>();
  #length: number;

  private constructor(chunks: (T | null)[][], counts: number[], length: number) {
    this.#chunks = chunks;
    this.#counts = counts;
    this.#length = length;
  }

  static of<T>(items: readonly (T | null)[]): Chunks<T> {
    const list = new Chunks<T>([], [], 0);
    list.resize(items.length);
    for (const [index, item] of items.entries()) list.set(index, item);
    return list;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns null beyond the end too. */
  get(index: number): T | null {
    return this.#chunks[index >>> CHUNK_BITS]?.[index & MASK] ?? null;
  }

  /** @param index below the length */
  set(index: number, item: T | null): void {
    const at = index >>> CHUNK_BITS;
    const chunk = this.#ownChunk(at);
    const before = chunk[index & MASK] ?? null;
    this.#counts[at] = (this.#counts[at] ?? 0) + Number(item !== null) - Number(before !== null);
    chunk[index & MASK] = item;
  }

  /** Returns whether the chunk around an index has no item. */
  isEmptyAround(index: number): boolean {
    return (this.#counts[index >>> CHUNK_BITS] ?? 0) === 0;
  }

  /** Lengthens the list by nulls, or cuts off its end. */
  resize(length: number): void {
    for (let index = length; index < this.#length; index += 1) this.set(index, null);
    const chunks = (length + MASK) >>> CHUNK_BITS;
    while (this.#chunks.length < chunks) {
      this.#own.add(this.#chunks.length);
      this.#chunks.push(Array.from({ length: SIZE }, () => null));
      this.#counts.push(0);
    }
    this.#chunks.length = chunks;
    this.#counts.length = chunks;
    this.#length = length;
  }

  clone(): Chunks<T> {
    this.#own = new Set();
    return new Chunks([...this.#chunks], [...this.#counts], this.#length);
  }

  *[Symbol.iterator](): Generator<T | null> {
    for (let index = 0; index < this.#length; index += 1) yield this.get(index);
  }

  #ownChunk(at: number): (T | null)[] {
    const shared = this.#chunks[at] ?? [];
    if (this.#own.has(at)) return shared;
    const chunk = [...shared];
    this.#chunks[at] = chunk;
    this.#own.add(at);
    return chunk;
  }
}
