/** The names last known of a group's people, kept after they left, since their messages still show them. */

import { ConversationId, check, MemberNames } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import { requireGroup } from '../conversation/conversationId.ts';
import type { Session } from '../session/session.ts';
import { read, write } from '../storage/db.ts';
import { NamesRecord } from '../storage/records.ts';

export function createMemberNames(session: Session) {
  return {
    async memberNames() {
      const { db, sealer } = session.account();
      const [keys, rows] = await read(db, (tx) => {
        const store = tx.objectStore('names');
        return Promise.all([store.getAllKeys(), store.getAll()]);
      });
      const names = rows.flatMap((row, i) => sealer.open('names', keys[i] ?? '', row, NamesRecord));
      return [...new Map(names.map((known) => [known.userId, known])).values()];
    },

    async rememberMemberNames(id, given) {
      const conversationId = check('rememberMemberNames', ConversationId, id);
      const renewed = check('rememberMemberNames', MemberNames, given);
      const { db, sealer, userId } = session.account();
      requireGroup(conversationId, userId);
      await write(db, 'relaxed', async (tx) => {
        // A group that was forgotten in the meantime leaves no names behind.
        if ((await tx.objectStore('heads').getKey(conversationId)) === undefined) return;
        const store = tx.objectStore('names');
        const sealed = await store.get(conversationId);
        const known = sealed === undefined ? [] : sealer.open('names', conversationId, sealed, NamesRecord);
        const renewedIds = new Set(renewed.map((name) => name.userId));
        // Renewed names go to the end, so that the cut drops those that were not seen for longest.
        const names = [...known.filter((name) => !renewedIds.has(name.userId)), ...renewed];
        const record: NamesRecord = names.slice(-limits.namesPerGroup);
        await store.put(sealer.seal('names', conversationId, record), conversationId);
      });
    },
  } satisfies Partial<CryptoApi>;
}
