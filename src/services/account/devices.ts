import type { ConversationState } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import { devicesAtom, newDevicesAtom, type OwnDevice } from '../../store/devices.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';
import { onStates } from '../core/sessionEvents.ts';
import type { KeyRenewal } from './keyRenewal.ts';
import { takeInRevocations } from './revocations.ts';

/** Ids of the own devices that the person has seen in the list or been told of. */
const knownDevicesEntry = 'known-devices';

export interface Devices {
  load(): Promise<void>;
  /** Only a device itself can be renamed. */
  rename(name: string): Promise<void>;
  /** Ends another device for good, and takes it out of every conversation of this browser. */
  revoke(deviceId: string): Promise<void>;
  /** The person has seen who has signed in. */
  acknowledge(): Promise<void>;
  /** Somebody's device was revoked: a contact's, a fellow member's, or an own one, which may be this. */
  onRevoked(revoked: { userId: string; deviceId: string }): Promise<void>;
  /** Acts on the devices that were revoked while this browser was away. */
  catchUp(): Promise<void>;
}

export interface DevicesOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly commitSubmitter: Pick<CommitSubmitter, 'settle'>;
  readonly confirmation: Pick<Confirmation, 'confirm'>;
  readonly keyRenewal: Pick<KeyRenewal, 'renew'>;
  /** This device was revoked: the session is over. */
  readonly onThisRevoked: () => Promise<void>;
  readonly background: Background;
}

type Device = Awaited<ReturnType<SessionDeps['api']['listDevices']>>[number];

export function createDevices(options: DevicesOptions): Devices {
  const { background, commitSubmitter, ownUserId } = options;
  const { api, clock, crypto, sessionEvents, store } = options.deps;
  let known: Set<string> | null = null;
  /** RFC 3339: revocations before this have been fetched. */
  let revocationsSince: string | undefined;
  /** Own devices that are known to be revoked. */
  const revokedIds = new Set<string>();

  async function readKnown(): Promise<Set<string> | null> {
    known ??= parseIds(await crypto.readLocal(knownDevicesEntry));
    return known;
  }

  async function keepKnown(ids: Iterable<string>): Promise<void> {
    known = new Set(ids);
    await crypto.writeLocal(knownDevicesEntry, [...known].join(' '));
  }

  const load = coalesce(async () => {
    const devices = (await api.listDevices()).map(toOwnDevice).sort(byUse);
    const before = await readKnown();
    store.set(devicesAtom, () => devices);
    // A browser that was never told takes for known whoever was there first.
    if (before === null) return keepKnown(devices.map(({ id }) => id));
    store.set(newDevicesAtom, () => devices.filter(({ id, isThisOne }) => !isThisOne && !before.has(id)));
  });

  function hasRevoked({ members, status }: ConversationState): boolean {
    const own = members.find(({ userId }) => userId === ownUserId);
    return status === 'joined' && own?.deviceIds.some((id) => revokedIds.has(id)) === true;
  }

  /** Own devices go at once; those of others before the next message. One that is refused, as to who is blocked, stops no other. */
  const removeFromConversations = coalesce(async () => {
    const held = (await crypto.conversations()).filter(hasRevoked);
    await forEachLimited(held, 1, async ({ conversationId }) => commitSubmitter.settle(conversationId));
  });

  function onOwnRevoked(deviceIds: readonly string[]): void {
    for (const id of deviceIds) revokedIds.add(id);
    if (deviceIds.length > 0) background(removeFromConversations);
  }

  async function catchUp(): Promise<void> {
    // Clocks differ, and what is fetched twice is harmless.
    const begun = new Date(clock.now() - 24 * 60 * 60 * 1000).toISOString();
    const own = await takeInRevocations(options.deps, ownUserId, revocationsSince);
    revocationsSince = begun;
    onOwnRevoked(own);
    await load();
  }

  onStates(sessionEvents, (states) => {
    const listed = new Set((store.get(devicesAtom) ?? []).map(({ id }) => id));
    const hasUnknown = states.some(({ members }) =>
      members.some(
        ({ deviceIds, userId }) =>
          userId === ownUserId && deviceIds.some((id) => known?.has(id) === false && !listed.has(id)),
      ),
    );
    // A device that a conversation holds and the list doesn't has signed in since the list was read.
    if (hasUnknown) background(load);
    // A browser that joins after the revocation finds the device still in: the others may have ended, or be away.
    if (states.some(hasRevoked)) background(removeFromConversations);
  });

  return {
    load: () => load().catch((error: unknown) => Promise.reject(toAppError(error, t('devices.loadFailed')))),

    async rename(name) {
      const { renameDevice } = await import('./deviceChanges.ts');
      await renameDevice(options.deps, name.trim());
    },

    async revoke(deviceId) {
      const { revokeDevice } = await import('./deviceChanges.ts');
      const isNews = await revokeDevice(options, deviceId);
      if (!isNews) await catchUp();
      store.set(devicesAtom, (devices) => devices?.filter(({ id }) => id !== deviceId) ?? null);
      store.set(newDevicesAtom, (devices) => devices.filter(({ id }) => id !== deviceId));
      onOwnRevoked([deviceId]);
    },

    async acknowledge() {
      const ids = (store.get(devicesAtom) ?? []).map(({ id }) => id);
      store.set(newDevicesAtom, () => []);
      await keepKnown([...(known ?? []), ...ids]);
    },

    async onRevoked({ deviceId, userId }) {
      if (userId !== ownUserId) {
        await takeInRevocations(options.deps, ownUserId, revocationsSince);
        return;
      }
      // With it the session is over: the relay has no answer for this device any more.
      if ((await crypto.openDevice()).deviceId === deviceId) return options.onThisRevoked();
      await catchUp();
    },

    catchUp,
  };
}

function toOwnDevice({ id, name, created_at, last_seen_at, current }: Device): OwnDevice {
  return { id, name, createdAt: created_at, lastSeenAt: last_seen_at, isThisOne: current };
}

function byUse(one: OwnDevice, other: OwnDevice): number {
  if (one.isThisOne !== other.isThisOne) return one.isThisOne ? -1 : 1;
  return Date.parse(other.lastSeenAt) - Date.parse(one.lastSeenAt);
}

function parseIds(text: string | null): Set<string> | null {
  return text === null ? null : new Set(text.split(' ').filter((id) => id !== ''));
}
