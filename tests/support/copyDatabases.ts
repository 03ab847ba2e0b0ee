/** Copies every database of a browser into another one that has none. */
export async function copyDatabases(from: IDBFactory, to: IDBFactory): Promise<void> {
  for (const { name = '', version } of await from.databases()) {
    const source = await answer(from.open(name));
    const rows = await Promise.all([...source.objectStoreNames].map((store) => rowsOf(source, store)));
    const opening = to.open(name, version);
    opening.addEventListener('upgradeneeded', () => {
      for (const { indexes, store } of rows) {
        const made = opening.result.createObjectStore(store);
        for (const { keyPath, name: index } of indexes) made.createIndex(index, keyPath);
      }
    });
    const target = await answer(opening);
    for (const { keys, store, values } of rows) {
      const into = target.transaction(store, 'readwrite').objectStore(store);
      await Promise.all(keys.map((key, i) => answer(into.put(values[i], key))));
    }
    source.close();
    target.close();
  }
}

async function rowsOf(db: IDBDatabase, store: string) {
  const from = db.transaction(store).objectStore(store);
  const indexes = [...from.indexNames].map((name) => ({ name, keyPath: from.index(name).keyPath }));
  const [keys, values] = await Promise.all([answer(from.getAllKeys()), answer<unknown[]>(from.getAll())]);
  return { store, indexes, keys, values };
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}
