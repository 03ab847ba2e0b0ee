import { exportSecret, groupView } from '@sinetti/crypto-core';
import { RECEIPT_LABEL, type Receipt, sealReceipt, signReceipt } from '@sinetti/crypto-core/content';
import type { ConversationEvent, GivenReceipt } from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { seededRandom } from './browser.ts';
import { ALICE_AND_BOB, type TestDevice } from './device.ts';
import type { Rogue } from './rogue.ts';

/** Makes a device's receipt, which the relay then has; null where there is nothing to say. */
export async function receiptOf(
  device: TestDevice,
  id = ALICE_AND_BOB,
  isShown = true,
): Promise<GivenReceipt | null> {
  const made = await device.api.makeReceipt(id, isShown);
  if (made === null) return null;
  const { epoch, position } = made.receipt;
  await device.api.receiptStored(id, { epoch, position, readSeq: made.readSeq });
  return { userId: device.userId, deviceId: device.deviceId, ...made.receipt };
}

/** Reads all that a device has processed, and makes its receipt of that. */
export async function readAndReceipt(device: TestDevice, id = ALICE_AND_BOB): Promise<GivenReceipt> {
  const { lastSeq } = await device.api.conversation(id);
  await device.api.setReadPosition(id, 'here', lastSeq);
  const receipt = await receiptOf(device, id);
  if (receipt === null) throw new Error('nothing to say');
  return receipt;
}

/** Gives a device a receipt. @returns what it found, and how far the others are for it now */
export async function take(
  device: TestDevice,
  receipt: GivenReceipt | null,
  id = ALICE_AND_BOB,
  isShown = true,
) {
  const { events, state } = await device.api.takeReceipts(id, receipt === null ? [] : [receipt], isShown);
  const found = events.map(({ change, senderId, seq }: ConversationEvent) => ({ ...change, senderId, seq }));
  return { found, receipts: state.receipts, isDoubted: state.isDoubted };
}

/** A receipt of a modified client, as it likes. */
export function rogueReceipt(
  rogue: Rogue,
  position: number,
  change: Partial<Receipt> & {
    readonly epoch?: number;
    readonly deviceId?: string;
    readonly userId?: string;
  },
): GivenReceipt {
  const { epoch: current, groupId } = groupView(rogue.group);
  const { epoch = Number(current), deviceId = rogue.deviceId, userId = rogue.userId, ...fields } = change;
  const receipt: Receipt = {
    start: 0,
    hash: new Uint8Array(32).fill(7),
    count: 0,
    readPosition: position,
    isShown: true,
    ...fields,
  };
  const place = { groupId, epoch, userId, deviceId, position };
  const key = exportSecret(rogue.group, RECEIPT_LABEL, groupId, 32);
  const env = { random: seededRandom(`receipt ${position}`), now: () => 0 };
  const sealed = sealReceipt(key, place, receipt, env);
  const signature = signReceipt(rogue.signatureKey, place, sealed);
  return {
    userId,
    deviceId,
    epoch,
    position,
    sealed: toBase64Url(sealed),
    signature: toBase64Url(signature),
  };
}

/** Receipts of a play, made at any time and given to anybody, late, again and in any order. */
export class ReceiptExchange {
  readonly #id: string;
  readonly #random: (length: number) => Uint8Array;
  readonly #made: GivenReceipt[] = [];

  /** @param seed draws of their own, so that they change nothing else of a play */
  constructor(conversationId: string, seed: string) {
    this.#id = conversationId;
    this.#random = seededRandom(`${seed}/receipts`);
  }

  /** In two of three calls a device makes a receipt, or is given some. */
  async act(device: TestDevice): Promise<void> {
    const [draw = 0, ...places] = this.#random(4);
    if (draw % 3 === 0) {
      const { lastSeq } = await device.api.conversation(this.#id);
      if (draw % 2 === 0) await device.api.setReadPosition(this.#id, 'here', lastSeq);
      const receipt = await receiptOf(device, this.#id, draw > 20);
      if (receipt !== null) this.#made.push(receipt);
    }
    if (draw % 3 !== 1 || this.#made.length === 0) return;
    // Most are of the newest, which may still count.
    const recent = this.#made.slice(draw < 50 ? 0 : -6);
    const given = places.flatMap((place) => recent[place % recent.length] ?? []);
    await device.api.takeReceipts(this.#id, given, true);
  }

  /** The device has read everything, and makes its receipt of that. */
  async tell(device: TestDevice): Promise<void> {
    const { lastSeq } = await device.api.conversation(this.#id);
    await device.api.setReadPosition(this.#id, 'here', lastSeq);
    const receipt = await receiptOf(device, this.#id);
    if (receipt !== null) this.#made.push(receipt);
  }

  /** The device is given every receipt of the play once more. */
  async takeAll(device: TestDevice): Promise<void> {
    await device.api.takeReceipts(this.#id, this.#made, true);
  }
}
