import { coalesce } from '../../lib/coalesce.ts';
import { accountChangesAtom } from '../../store/accountChanges.ts';
import type { Deps } from '../core/deps.ts';

/** The local entry of the time (RFC 3339) up to which the person has judged the changes. */
const judgedEntry = 'account-changes-judged';

/** Tells the person of what changed who owns the account on another device. */
export interface AccountChanges {
  /** Asks the relay for the changes of the last days. */
  load(): Promise<void>;
  /** The person knows of the oldest one. */
  acknowledge(): Promise<void>;
}

export function createAccountChanges({
  api,
  crypto,
  store,
}: Pick<Deps, 'api' | 'crypto' | 'store'>): AccountChanges {
  const load = coalesce(async () => {
    const [changes, judged, { deviceId }] = await Promise.all([
      api.listAccountChanges(),
      crypto.readLocal(judgedEntry),
      crypto.openDevice(),
    ]);
    const unjudged = changes.filter(
      ({ created_at, device_id }) => device_id !== deviceId && created_at > (judged ?? ''),
    );
    store.set(accountChangesAtom, () =>
      unjudged.map(({ created_at, device_name, id, kind }) => ({
        id,
        kind,
        deviceName: device_name,
        createdAt: created_at,
      })),
    );
  });

  return {
    load,

    async acknowledge() {
      const [oldest] = store.get(accountChangesAtom);
      if (oldest === undefined) return;
      store.set(accountChangesAtom, (changes) =>
        changes.filter(({ createdAt }) => createdAt > oldest.createdAt),
      );
      await crypto.writeLocal(judgedEntry, oldest.createdAt);
    },
  };
}
