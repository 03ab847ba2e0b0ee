/**
 * The local store: small named values of the interface, sealed (profile, contacts, drafts, recent emojis).
 */

import { check, LocalEntryName, LocalEntryPrefix, LocalEntryText } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import type { Session } from '../session/session.ts';
import { read, write } from '../storage/db.ts';
import { LocalEntryRecord } from '../storage/records.ts';

const encoder = new TextEncoder();

export function createLocalStore(session: Session) {
  return {
    async localEntries(prefix = '') {
      check('localEntries', LocalEntryPrefix, prefix);
      const { db, sealer } = session.account();
      const [keys, rows] = await read(db, (tx) => {
        const store = tx.objectStore('notes');
        return Promise.all([store.getAllKeys(), store.getAll()]);
      });
      return rows
        .map((row, i) => sealer.open('notes', keys[i] ?? '', row, LocalEntryRecord))
        .filter(({ name }) => name.startsWith(prefix));
    },

    async readLocal(given) {
      const name = check('readLocal', LocalEntryName, given);
      const { db, sealer } = session.account();
      const key = sealer.hiddenKey('notes', name);
      const row = await read(db, (tx) => tx.objectStore('notes').get(key));
      return row === undefined ? null : sealer.open('notes', key, row, LocalEntryRecord).text;
    },

    async writeLocal(givenName, givenText) {
      const name = check('writeLocal', LocalEntryName, givenName);
      const text = check('writeLocal', LocalEntryText, givenText);
      const { db, sealer } = session.account();
      const key = sealer.hiddenKey('notes', name);
      if (text === null) return write(db, 'relaxed', (tx) => tx.objectStore('notes').delete(key));
      if (encoder.encode(text).length > limits.localEntryText)
        throw new CryptoApiError('usage', 'local entry length');
      // Sealing comes before the first wait, so that an entry written just before the keys are locked is
      // still kept.
      const sealed = sealer.seal('notes', key, { name, text });
      await write(db, 'relaxed', async (tx) => {
        const store = tx.objectStore('notes');
        const [others, known] = await Promise.all([store.count(), store.getKey(key)]);
        if (known === undefined && others >= limits.localEntries) {
          throw new CryptoApiError('usage', 'too many local entries');
        }
        await store.put(sealed, key);
      });
    },
  } satisfies Partial<CryptoApi>;
}
