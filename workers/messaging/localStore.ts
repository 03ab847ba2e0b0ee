/** Small texts of the interface, sealed: drafts, recent emojis. */

import { check, NoteName, NotePrefix, NoteText } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import type { Session } from '../session/session.ts';
import { read, write } from '../storage/db.ts';
import { NoteRecord } from '../storage/records.ts';

const encoder = new TextEncoder();

export function createNotes(session: Session): Pick<CryptoApi, 'notes' | 'readNote' | 'writeNote'> {
  return {
    async notes(prefix = '') {
      check('notes', NotePrefix, prefix);
      const { db, sealer } = session.person();
      const [keys, rows] = await read(db, (tx) => {
        const store = tx.objectStore('notes');
        return Promise.all([store.getAllKeys(), store.getAll()]);
      });
      return rows
        .map((row, i) => sealer.open('notes', keys[i] ?? '', row, NoteRecord))
        .filter(({ name }) => name.startsWith(prefix));
    },

    async readNote(noteName) {
      const name = check('readNote', NoteName, noteName);
      const { db, sealer } = session.person();
      const key = sealer.hiddenKey('notes', name);
      const row = await read(db, (tx) => tx.objectStore('notes').get(key));
      return row === undefined ? null : sealer.open('notes', key, row, NoteRecord).text;
    },

    async writeNote(noteName, noteText) {
      const name = check('writeNote', NoteName, noteName);
      const text = check('writeNote', NoteText, noteText);
      const { db, sealer } = session.person();
      const key = sealer.hiddenKey('notes', name);
      if (text === null) return write(db, 'relaxed', (tx) => tx.objectStore('notes').delete(key));
      if (encoder.encode(text).length > limits.noteText) throw new CryptoApiError('usage', 'note length');
      // Sealed at once: a note that is written just before the keys are locked is still kept.
      const sealed = sealer.seal('notes', key, { name, text });
      await write(db, 'relaxed', async (tx) => {
        const store = tx.objectStore('notes');
        const [others, known] = await Promise.all([store.count(), store.getKey(key)]);
        if (known === undefined && others >= limits.notes) {
          throw new CryptoApiError('usage', 'too many notes');
        }
        await store.put(sealed, key);
      });
    },
  };
}
