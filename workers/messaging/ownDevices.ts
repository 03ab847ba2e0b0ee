/** Tells the person's other devices keys, read positions, drafts, revisions (PROTOCOL section 2). */
import { check, LogPosition, MuteInput, OwnStateInput } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { randomUuid } from '../codec/uuid.ts';
import { parseConversationId, selfConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { newOutboxRecord, nextOrder, putInOutbox } from '../conversation/outboxRows.ts';
import { storedState } from '../conversation/views.ts';
import { type AccountOnDevice, readKeys, type Session } from '../session/session.ts';
import { read, write } from '../storage/db.ts';
import { readConversation } from '../storage/records.ts';
import { retryWaiting } from './ownMessages.ts';
import {
  emptyOwnState,
  hasPending,
  OWN_STATE,
  putOwnState,
  readOwnState,
  withMute,
  withMutesFor,
  withPending,
} from './ownStateMessage.ts';
import {
  acknowledgeOlder,
  OWN_REVISIONS,
  olderStates,
  revisionsDue,
  waitingRevisions,
} from './revisionsMessage.ts';
import { keptKeys, SHARED_KEYS } from './sharedKeysMessage.ts';

export function createOwnDevices(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async shareKeys() {
      const account = session.accountOnDevice();
      const conversationId = selfConversationId(account.userId);
      if (!(await isMember(account, conversationId))) return false;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const waiting = (await retryWaiting(transaction, SHARED_KEYS)).length > 0;
        if (waiting || !(await isDue(transaction))) return waiting;
        await append(transaction, keptKeys(null));
        return true;
      });
    },

    async tellOwnDevices(input) {
      const state = check('tellOwnDevices', OwnStateInput, input);
      const account = session.accountOnDevice();
      for (const { conversationId } of [...state.reads, ...state.drafts])
        parseConversationId(conversationId, account.userId);
      const conversationId = selfConversationId(account.userId);
      if (!(await isMember(account, conversationId))) return false;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { tx } = transaction;
        if (!(await hasOthers(transaction))) return false;
        const known = withPending(await readOwnState(tx, account), state, env.now());
        const members = (await transaction.members()) ?? [];
        const record = withMutesFor(
          known,
          members.flatMap(({ deviceIds }) => deviceIds),
        );
        await putOwnState(tx, account, record);
        const waiting = await retryWaiting(transaction, OWN_STATE);
        // One that has its content says nothing newer.
        const isNewSaid = waiting.some(({ ciphertext }) => ciphertext === null);
        if (!isNewSaid && hasPending(record)) await append(transaction, emptyOwnState);
        return hasPending(record) || waiting.some(({ status }) => status !== 'sent');
      });
    },

    async mutes() {
      const account = session.accountOnDevice();
      const { mutes } = await read(account.db, (tx) => readOwnState(tx, account));
      const lasting = mutes.filter(({ until }) => until > env.now());
      return lasting.map(({ conversationId, mentions, until }) => ({ conversationId, mentions, until }));
    },

    async setMute(input) {
      const mute = check('setMute', MuteInput, input);
      const account = session.accountOnDevice();
      parseConversationId(mute.conversationId, account.userId);
      await write(account.db, 'relaxed', async (tx) => {
        await putOwnState(tx, account, withMute(await readOwnState(tx, account), mute, env.now()));
      });
    },

    async ownRevisions() {
      const account = session.accountOnDevice();
      return read(account.db, async (tx) => {
        const { lastSeq, members, status } = await storedState(
          tx,
          account,
          selfConversationId(account.userId),
        );
        const isAmongOthers = status === 'joined' && members.some(({ deviceIds }) => deviceIds.length > 1);
        const askAfter = isAmongOthers ? await revisionsDue(tx, account, lastSeq) : null;
        return { askAfter, older: await olderStates(tx, account) };
      });
    },

    async tellRevisions(position) {
      const askedAt = check('tellRevisions', LogPosition, position);
      const account = session.accountOnDevice();
      const conversationId = selfConversationId(account.userId);
      if (!(await isMember(account, conversationId))) return false;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const waiting = await retryWaiting(transaction, OWN_REVISIONS);
        if (waiting.length > 0) return waiting.some(({ status }) => status !== 'sent');
        if (!(await hasOthers(transaction))) return false;
        await append(transaction, waitingRevisions(Math.min(askedAt, transaction.conversation.lastSeq)));
        return true;
      });
    },

    async acknowledgeOlderStates() {
      const account = session.accountOnDevice();
      await write(account.db, 'relaxed', (tx) => acknowledgeOlder(tx, account));
    },
  } satisfies Partial<CryptoApi>;

  async function append(
    { account, conversationId, tx }: ConversationTransaction,
    payload: string,
  ): Promise<void> {
    const record = newOutboxRecord(payload, new Date(env.now()).toISOString());
    const row = { conversationId, order: await nextOrder(tx) };
    await putInOutbox(tx, account, randomUuid(env), row, record);
  }
}

async function isMember({ db, sealer }: AccountOnDevice, conversationId: string): Promise<boolean> {
  const { membership } = await read(db, (tx) => readConversation(tx, sealer, conversationId));
  return membership === 'member';
}

async function hasOthers(transaction: ConversationTransaction): Promise<boolean> {
  const members = (await transaction.members()) ?? [];
  return members.some(({ deviceIds }) => deviceIds.length > 1);
}

/** Returns whether the other devices may lack keys that this one has. */
async function isDue(transaction: ConversationTransaction): Promise<boolean> {
  const { account, conversation, tx } = transaction;
  const { statements } = await readKeys(tx, account);
  if (!statements.some(({ revision }) => revision > conversation.saidRevision)) return false;
  return hasOthers(transaction);
}
