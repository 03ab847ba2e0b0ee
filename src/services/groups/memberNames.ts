import { memberNamesAtom } from '../../store/names.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';

export interface MemberNames {
  /** Shows the names that this browser has kept. */
  load(): Promise<void>;
  /** Shows a group's names as the relay gives them, id to name, and keeps them. */
  learn(conversationId: string, names: ReadonlyMap<string, string>): Promise<void>;
}

/** Characters that the worker keeps of a name: far more than the relay lets anybody have. */
const maxLength = 256;

/** The names of everybody met in a group, also of who has left it. Only this module writes their atom. */
export function createMemberNames({
  crypto,
  sessionEvents,
  store,
}: Pick<SessionDeps, 'crypto' | 'sessionEvents' | 'store'>): MemberNames {
  /** The names that this session has kept, by conversation. */
  const kept = new Map<string, ReadonlyMap<string, string>>();

  function show(names: ReadonlyMap<string, string>): void {
    const shown = store.get(memberNamesAtom);
    if ([...names].every(([userId, name]) => shown.get(userId) === name)) return;
    store.set(memberNamesAtom, new Map([...shown, ...names]));
  }

  // The names went with the group's records: should it come back, they are kept anew.
  sessionEvents.on('groupForgotten', ({ groupId }) => void kept.delete(groupConversationId(groupId)));

  return {
    async load() {
      const names = await crypto.memberNames();
      // Names that the relay has given in the meantime are newer.
      store.set(
        memberNamesAtom,
        new Map([...names.map(({ userId, name }) => [userId, name] as const), ...store.get(memberNamesAtom)]),
      );
    },

    async learn(conversationId, given) {
      const names = new Map([...given].map(([userId, name]) => [userId, name.slice(0, maxLength)]));
      show(names);
      const before = kept.get(conversationId);
      const changed = [...names].filter(([userId, name]) => before?.get(userId) !== name);
      if (changed.length === 0) return;
      await crypto.rememberMemberNames(
        conversationId,
        changed.map(([userId, name]) => ({ userId, name })),
      );
      kept.set(conversationId, new Map([...(before ?? []), ...changed]));
    },
  };
}
