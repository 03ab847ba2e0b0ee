import type { Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { devicesAtom, type OwnDevice } from '../../store/devices.ts';
import { draftsAtom } from '../../store/drafts.ts';
import { olderStatesAtom } from '../../store/keys.ts';
import type { Joiner } from '../conversations/joiner.ts';
import type { Outbox } from '../conversations/outbox.ts';
import type { Sync } from '../conversations/sync.ts';
import type { AccountStates } from '../core/accountState.ts';
import { selfConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { onStates } from '../core/sessionEvents.ts';
import { timings } from '../core/timings.ts';
import type { Drafts, OwnState } from './ownState.ts';

/**
 * The group of the person's own devices, in which one gives the others the newest shared keys, and tells them what is
 * read and drafted (PROTOCOL section 2). It is a conversation like any other to the relay, the synchronisation and the
 * outbox; the screen shows the notes in it.
 */
export interface OwnDevices {
  /** To be called when the drafts of this browser have been read: they, and what is read, are in step from then on. */
  start(): void;
  /**
   * Starts the group where there is another device and no group yet, and shares the keys where that is due. To be called
   * when the conversations and the list of devices have been read.
   */
  settle(): Promise<void>;
  /** The person knows of the older states that are shown. */
  acknowledgeOlderStates(): Promise<void>;
  stop(): void;
}

export interface OwnDevicesOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly sync: Pick<Sync, 'catchUp' | 'moveReadPosition'>;
  readonly joiner: Pick<Joiner, 'start'>;
  readonly outbox: Pick<Outbox, 'flush'>;
  readonly accountStates: Pick<AccountStates, 'isSettled'>;
  readonly background: Background;
}

export function createOwnDevices(options: OwnDevicesOptions): OwnDevices {
  const { background, joiner, outbox, sync } = options;
  const { clock, crypto, random, sessionEvents, store } = options.deps;
  const conversationId = selfConversationId(options.ownUserId);
  let timer: Timer | null = null;
  /** Starting takes KeyPackages of the other devices, so that it isn't tried again at once. */
  let restingUntil = 0;
  let isStopped = false;
  let hasOthers = false;
  /** Runs while the newest device is expected to start the group. */
  let patience: Timer | null = null;

  const share = coalesce(async () => {
    if (await crypto.shareKeys()) await outbox.flush(conversationId);
    if (hasOthers && !isStopped) await (await import('./ownRevisions.ts')).compareRevisions(options);
  });

  /** Waits a random moment, so that of several devices whose keys nobody has said yet the quickest spares the others. */
  function shareSoon(): void {
    if (isStopped) return;
    timer ??= clock.after(random() * timings.keysSharing, () => {
      timer = null;
      background(share);
    });
  }

  /** Starts the group, or leaves that to the newest device for a while: of several that start at once one succeeds. */
  async function startInTurn(): Promise<void> {
    const devices = store.get(devicesAtom) ?? [];
    if (devices.length < 2 || patience !== null) return;
    const byAge = devices.toSorted((one, other) => (age(one) < age(other) ? -1 : 1));
    if (byAge.at(-1)?.isThisOne === true) return start();
    patience = clock.after(timings.keysPatience, () => {
      patience = null;
      background(async () => {
        const { status } = await crypto.conversation(conversationId);
        if (status === 'outside' && !isStopped) await start();
      });
    });
  }

  async function start(): Promise<void> {
    if (clock.monotonicNow() < restingUntil) return;
    restingUntil = clock.monotonicNow() + timings.rejoinPause;
    await joiner.start(conversationId);
    await sync.catchUp(conversationId);
  }

  let begin = (_drafts: Drafts): void => undefined;
  const started = new Promise<Drafts>((resolve) => {
    begin = resolve;
  });
  let loading: Promise<OwnState> | null = null;
  let ownState: OwnState | null = null;

  /** Most people have one device, and the others have time for this. */
  function loadState(): Promise<OwnState> {
    loading ??= started.then(async (drafts) => {
      const { createOwnState } = await import('./ownState.ts');
      ownState = createOwnState(options, drafts);
      if (isStopped) ownState.stop();
      return ownState;
    });
    return loading;
  }

  onStates(sessionEvents, (states) => {
    const own = states.find((state) => state.conversationId === conversationId);
    if (own?.members.some(({ deviceIds }) => deviceIds.length > 1) !== true) return;
    hasOthers = true;
    background(loadState);
  });
  sessionEvents.on('entriesProcessed', ({ ownState: told, state }) => {
    if (state.conversationId === conversationId) shareSoon();
    if (told !== undefined) background(async () => (await loadState()).take(told));
  });
  sessionEvents.on('keysRenewed', () => background(share));
  sessionEvents.on('keysTakenOver', shareSoon);

  return {
    start: () => begin(store.get(draftsAtom)),

    async settle() {
      const { status } = await crypto.conversation(conversationId);
      if (status === 'joined') shareSoon();
      else if (status === 'outside') await startInTurn();
    },

    async acknowledgeOlderStates() {
      store.set(olderStatesAtom, () => []);
      await crypto.acknowledgeOlderStates();
    },

    stop() {
      isStopped = true;
      timer?.cancel();
      patience?.cancel();
      ownState?.stop();
    },
  };
}

const age = ({ createdAt, id }: OwnDevice): string => `${createdAt} ${id}`;
