import { Readable } from 'node:stream';
import type { BlobStore, BlobWriter, StoredBlob } from '#relay/src/blobs/blobStore.ts';
import { worldNow } from '../seams/time.ts';

/** The relay's files, without the threads on which a machine writes and reads them. */
export class BlobsInMemory implements BlobStore {
  readonly #blobs = new Map<string, { bytes: Buffer; writtenAt: number }>();

  async open(): Promise<void> {}
  async isTheirs(): Promise<boolean> {
    return true;
  }
  async claim(): Promise<boolean> {
    return true;
  }
  async free(): Promise<number> {
    return 2 ** 40;
  }
  async size(id: string): Promise<number> {
    return this.#blobs.get(id)?.bytes.length ?? 0;
  }

  async append(id: string, offset: number): Promise<BlobWriter> {
    let position = offset;
    return {
      write: async (chunk) => {
        const before = this.#blobs.get(id)?.bytes ?? Buffer.alloc(0);
        const after = before.subarray(position + chunk.length);
        const bytes = Buffer.concat([before.subarray(0, position), chunk, after]);
        this.#blobs.set(id, { bytes, writtenAt: worldNow() });
        position += chunk.length;
      },
      sync: async () => {},
      close: async () => {},
    };
  }

  async read(id: string, { end, start }: { readonly start: number; readonly end: number }) {
    const bytes = this.#blobs.get(id)?.bytes;
    return bytes === undefined || bytes.length <= end
      ? null
      : Readable.from([bytes.subarray(start, end + 1)], { objectMode: false });
  }

  async delete(id: string): Promise<void> {
    this.#blobs.delete(id);
  }
  async parts(): Promise<string[]> {
    return [...new Set([...this.#blobs.keys()].map((id) => id.slice(0, 2)))];
  }
  async part(name: string): Promise<StoredBlob[]> {
    const found = [...this.#blobs].filter(([id]) => id.startsWith(name));
    return found.map(([id, { writtenAt }]) => ({ id, writtenAt }));
  }
}
