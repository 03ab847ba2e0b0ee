/** Receipts: how far this device has received and read a conversation, and how far others have (PROTOCOL section 10). */
import { CryptoError, type Group, groupView } from '@sinetti/crypto-core';
import {
  isReceiptSigned,
  openReceipt,
  RECEIPT_LABEL,
  type Receipt,
  type ReceiptPlace,
  sealReceipt,
  signReceipt,
} from '@sinetti/crypto-core/content';
import { ConversationId, check, GivenReceipts, IsShown, StoredReceipt } from '../api/arguments.ts';
import type { ConversationEvent, CryptoApi, PersonReceipt } from '../api/cryptoApi.ts';
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import { groupIdOf, parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { forgetOldestEvents, freePlace, keepEvent } from '../conversation/events.ts';
import { withExportedKey } from '../conversation/exportedKey.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { hasReceipts, isReceiptDue, putReceipts, readReceipts } from '../conversation/receiptRows.ts';
import { revokedLeaves } from '../conversation/revokedLeaves.ts';
import { readableCertificate } from '../identity/certificates.ts';
import type { Session } from '../session/session.ts';

type Given = Guarded<typeof GivenReceipts>[number];

export function createReceipts(deps: TransactionDeps, session: Session) {
  return {
    async makeReceipt(id, shown) {
      const conversationId = check('makeReceipt', ConversationId, id);
      const isShown = check('makeReceipt', IsShown, shown);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { conversation } = transaction;
        const state = await stateWithReceipts(transaction);
        const { chain } = conversation;
        if (state === null || chain === null || !isReceiptDue(conversation)) return null;
        const { epoch, lastSeq: position } = conversation;
        const { deviceId, signatureKey } = account.device;
        const groupId = groupIdOf(conversationId);
        const place: ReceiptPlace = { groupId, epoch, userId: account.userId, deviceId, position };
        const readSeq = Math.min(conversation.readHere, position);
        const { hash, own: count, start } = chain;
        const receipt: Receipt = { start, hash, count, readPosition: isShown ? readSeq : 0, isShown };
        const sealed = withExportedKey(state.group, RECEIPT_LABEL, (key) =>
          sealReceipt(key, place, receipt, deps.env),
        );
        const signature = signReceipt(signatureKey.privateKey, place, sealed);
        return {
          receipt: { epoch, position, sealed: toBase64Url(sealed), signature: toBase64Url(signature) },
          readSeq,
        };
      });
    },

    async receiptStored(id, given) {
      const conversationId = check('receiptStored', ConversationId, id);
      const stored = check('receiptStored', StoredReceipt, given);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { told } = transaction.conversation;
        if (stored.epoch >= told.epoch && stored.position >= told.position)
          transaction.conversation.told = { ...stored };
        return transaction.finish();
      });
    },

    async takeReceipts(id, input, shown) {
      const conversationId = check('takeReceipts', ConversationId, id);
      const given = check('takeReceipts', GivenReceipts, input);
      const isShown = check('takeReceipts', IsShown, shown);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const events = await new ReceiptReader(transaction, deps, isShown).take(given);
        if (events.length > 0) await forgetOldestEvents(transaction);
        return { messages: [], events, state: await transaction.finish() };
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** Reads a batch of receipts inside one conversation transaction. */
class ReceiptReader {
  readonly #transaction: ConversationTransaction;
  readonly #deps: TransactionDeps;
  readonly #isShown: boolean;

  constructor(transaction: ConversationTransaction, deps: TransactionDeps, isShown: boolean) {
    this.#transaction = transaction;
    this.#deps = deps;
    this.#isShown = isShown;
  }

  /** @returns what was found where a device was given another log */
  async take(given: readonly Given[]): Promise<ConversationEvent[]> {
    const { account, conversationId, tx } = this.#transaction;
    const state = await stateWithReceipts(this.#transaction);
    if (state === null) return [];
    const keys = await this.#signatureKeys(state);
    const events: ConversationEvent[] = [];
    const before = await readReceipts(tx, account, conversationId);
    const people = new Map(before.map((one) => [one.userId, one]));
    for (const one of given) {
      const receipt = this.#open(state.group, keys, one);
      if (receipt === null) continue;
      const { event, isSame } = await this.#compare(one, receipt);
      if (event !== null) events.push(event);
      if (isSame && receipt.isShown && one.userId !== account.userId) {
        people.set(one.userId, raised(people.get(one.userId), one, receipt));
      }
    }
    const after = [...people.values()].filter(({ userId }) => state.hasPerson(userId));
    if (JSON.stringify(after) !== JSON.stringify(before)) putReceipts(this.#transaction, after);
    return events;
  }

  /** The signature keys of the devices in the tree, by person and device; without those that are revoked. */
  async #signatureKeys(state: MlsGroup): Promise<ReadonlyMap<string, Uint8Array>> {
    const { account, tx } = this.#transaction;
    const revoked = await revokedLeaves(tx, account, state);
    const revokedIndices = new Set(revoked.map(({ leafIndex }) => leafIndex));
    const keys = new Map<string, Uint8Array>();
    for (const { credential, leafIndex, signatureKey } of groupView(state.group).members) {
      const certificate = readableCertificate(credential);
      if (certificate === null || revokedIndices.has(leafIndex)) continue;
      keys.set(`${certificate.userId}/${certificate.deviceId}`, signatureKey);
    }
    return keys;
  }

  /** Null unless a receipt is of another device in the tree, of this epoch, and no further than this device has read. */
  #open(group: Group, keys: ReadonlyMap<string, Uint8Array>, given: Given): Receipt | null {
    const { account, conversation, conversationId } = this.#transaction;
    const { deviceId, epoch, position, userId } = given;
    const [sealed, signature] = [fromBase64Url(given.sealed), fromBase64Url(given.signature)];
    const key = keys.get(`${userId}/${deviceId}`);
    if (key === undefined || deviceId === account.device.deviceId) return null;
    if (epoch !== conversation.epoch || position > conversation.lastSeq) return null;
    const place: ReceiptPlace = { groupId: groupIdOf(conversationId), epoch, userId, deviceId, position };
    if (sealed === null || signature === null || !isReceiptSigned(key, place, sealed, signature)) return null;
    try {
      return withExportedKey(group, RECEIPT_LABEL, (secret) => openReceipt(secret, place, sealed));
    } catch (error) {
      if (error instanceof CryptoError) return null;
      throw error;
    }
  }

  async #compare(
    { deviceId, position, userId }: Given,
    { count, hash, isShown, start }: Receipt,
  ): Promise<{ isSame: boolean; event: ConversationEvent | null }> {
    const transaction = this.#transaction;
    const reading = { start, position, hash, count };
    const agrees = await transaction.chain.agrees(reading);
    const { conversation } = transaction;
    // The evidence of a message would tell that somebody has it who hides that, or to somebody who does.
    if (agrees === true && isShown && this.#isShown)
      conversation.agreedAt = Math.max(conversation.agreedAt, position);
    // Without a place for it yet, a difference is left to what this device says next.
    const seq = agrees === false ? await freePlace(transaction, position) : null;
    const finding = seq === null ? null : await transaction.chain.disagree(deviceId, reading);
    if (seq === null || finding === null) return { isSame: agrees === true, event: null };
    const timestamp = new Date(this.#deps.env.now()).toISOString();
    const source = { seq, sender_id: userId, sender_device_id: deviceId, timestamp };
    return { isSame: false, event: keepEvent(transaction, source, finding) };
  }
}

/** The group of a member, where the conversation has receipts. */
async function stateWithReceipts(transaction: ConversationTransaction): Promise<MlsGroup | null> {
  const { account, conversation, conversationId } = transaction;
  const state = conversation.membership === 'member' ? await transaction.state() : null;
  if (state === null) return null;
  return hasReceipts(account, conversationId, conversation, state.members().length) ? state : null;
}

/** Positions only rise, over all devices of a person. */
function raised(
  before: PersonReceipt | undefined,
  { position, userId }: Given,
  { readPosition }: Receipt,
): PersonReceipt {
  return {
    userId,
    deliveredSeq: Math.max(before?.deliveredSeq ?? 0, position),
    readSeq: Math.max(before?.readSeq ?? 0, readPosition),
  };
}
