/** The part of the browser's caches that is used. */
export class MemoryCaches {
  readonly stored = new Map<string, Map<string, Response>>();

  async open(name: string): Promise<Cache> {
    const entries = this.stored.get(name) ?? new Map<string, Response>();
    this.stored.set(name, entries);
    const cache: Pick<Cache, 'match' | 'put'> = {
      match: async (path) => entries.get(path as string)?.clone(),
      put: async (path, response) => void entries.set(path as string, response),
    };
    return cache as Cache;
  }

  keys = async () => [...this.stored.keys()];
  delete = async (name: string) => this.stored.delete(name);
}
