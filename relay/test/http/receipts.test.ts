import { describe, expect, it } from 'vitest';
import { limits } from '../../contract/index.ts';
import { revocationOf } from '../devices.ts';
import { base64Url, onAnotherDevice, type PersonOnDevice } from '../helpers.ts';
import {
  commitBody,
  log,
  messageBody,
  putReceipt,
  receiptBody,
  receiptsOf,
  send,
  submitCommit,
} from './conversation.ts';
import { aino, conversationId, eero, eventsFor, relay, start, stranger, withTwoPeople } from './twoPeople.ts';

withTwoPeople();

const forbidden = { status: 403, body: { code: 'forbidden' } };
const notFound = { status: 404, body: { code: 'not-found' } };
const invalid = { status: 422, body: { code: 'invalid-request' } };
const stored = ({ id, deviceId }: PersonOnDevice, body: ReturnType<typeof receiptBody>) => ({
  userId: id,
  deviceId,
  ...body,
});

/** A conversation of three entries. */
async function talk(): Promise<void> {
  await start();
  for (const from of [aino, eero]) await send(from, from === aino ? eero : aino, messageBody(1));
}

describe('a receipt', () => {
  it('is kept for each device, and told to both people', async () => {
    await talk();
    const tablet = await onAnotherDevice(relay, eero);
    const body = receiptBody(eero, conversationId, 3);
    const events = await eventsFor([aino, eero, stranger], async () => {
      expect((await putReceipt(eero, conversationId, body)).status).toBe(204);
    });
    const event = { type: 'receipt', conversationId, ...stored(eero, body) };
    expect(events).toHaveLength(2);
    expect(new Map(events)).toEqual(
      new Map([
        [aino.id, event],
        [eero.id, event],
      ]),
    );
    const other = receiptBody(tablet, conversationId, 2);
    await putReceipt(tablet, conversationId, other);
    for (const person of [aino, eero, tablet]) {
      const receipts = await receiptsOf(person, conversationId);
      expect(receipts).toHaveLength(2);
      expect(receipts).toEqual(expect.arrayContaining([stored(eero, body), stored(tablet, other)]));
    }
  });

  it('is overwritten by the next, and never by an earlier position or epoch', async () => {
    await talk();
    const first = receiptBody(eero, conversationId, 2);
    await putReceipt(eero, conversationId, first);
    const again = receiptBody(eero, conversationId, 2);
    await putReceipt(eero, conversationId, again);
    expect(await receiptsOf(aino, conversationId)).toEqual([stored(eero, again)]);
    await submitCommit(aino, conversationId, commitBody(1));
    const next = receiptBody(eero, conversationId, 4, 2);
    await putReceipt(eero, conversationId, next);
    const events = await eventsFor([aino, eero], async () => {
      for (const older of [
        first,
        receiptBody(eero, conversationId, 4),
        receiptBody(eero, conversationId, 3, 2),
      ]) {
        expect((await putReceipt(eero, conversationId, older)).status).toBe(204);
      }
    });
    expect(events).toEqual([]);
    expect(await receiptsOf(aino, conversationId)).toEqual([stored(eero, next)]);
  });

  it('is neither told nor written once more where it is the same', async () => {
    await talk();
    const body = receiptBody(eero, conversationId, 3);
    const events = await eventsFor([aino, eero], async () => {
      for (let i = 0; i < 3; i += 1) expect((await putReceipt(eero, conversationId, body)).status).toBe(204);
    });
    expect(events).toHaveLength(2);
    // A receipt after more was read is another one at the same position.
    const again = receiptBody(eero, conversationId, 3);
    const later = await eventsFor([aino, eero], () => putReceipt(eero, conversationId, again));
    expect(later).toHaveLength(2);
    expect(await receiptsOf(aino, conversationId)).toEqual([stored(eero, again)]);
  });

  it('takes the signature of its device: a token alone acknowledges nothing', async () => {
    await talk();
    const tablet = await onAnotherDevice(relay, eero);
    const body = receiptBody(eero, conversationId, 3);
    for (const forged of [
      { ...body, position: 2 },
      { ...body, epoch: 0 },
      { ...body, sealed: base64Url(93) },
      { ...body, signature: base64Url(64) },
      receiptBody(tablet, conversationId, 3),
      receiptBody({ ...eero, id: aino.id }, conversationId, 3),
      receiptBody(
        eero,
        conversationId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
        3,
      ),
    ]) {
      expect(await putReceipt(eero, conversationId, forged)).toMatchObject(forbidden);
    }
    expect(await receiptsOf(eero, conversationId)).toEqual([]);
  });

  it('reaches no further than the conversation, and is of a bounded size', async () => {
    await talk();
    expect(await putReceipt(eero, conversationId, receiptBody(eero, conversationId, 4))).toMatchObject(
      invalid,
    );
    expect(await putReceipt(eero, conversationId, receiptBody(eero, conversationId, 3, 2))).toMatchObject(
      invalid,
    );
    const large = { ...receiptBody(eero, conversationId, 3), sealed: base64Url(limits.receiptMax + 1) };
    expect(await putReceipt(eero, conversationId, large)).toMatchObject(invalid);
    expect(await receiptsOf(eero, conversationId)).toEqual([]);
  });

  it('is of those who take part, and theirs to see', async () => {
    await talk();
    expect(
      await putReceipt(stranger, conversationId, receiptBody(stranger, conversationId, 1)),
    ).toMatchObject(notFound);
    expect(await stranger.call('GET', `/conversations/${conversationId}/receipts`)).toMatchObject(notFound);
  });

  it('goes with its device', async () => {
    await talk();
    const tablet = await onAnotherDevice(relay, eero);
    await putReceipt(tablet, conversationId, receiptBody(tablet, conversationId, 3));
    const statement = revocationOf(eero, tablet.deviceId);
    expect((await eero.call('DELETE', `/devices/${tablet.deviceId}`, { statement })).status).toBe(204);
    expect(await receiptsOf(aino, conversationId)).toEqual([]);
  });

  it('says nothing of what somebody has read to who asks for the log', async () => {
    await talk();
    await putReceipt(eero, conversationId, receiptBody(eero, conversationId, 3));
    expect((await log(aino, eero)).some((entry) => entry.is_read || entry.delivered)).toBe(false);
  });
});
