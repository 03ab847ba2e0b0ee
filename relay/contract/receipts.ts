import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { base64Url, ConversationId, Epoch, Id, Seq } from './primitives.ts';
import { defineRoute } from './route.ts';

const ConversationParams = z.object({ conversationId: ConversationId });

/**
 * How far a device has received a conversation, in the clear, and how far it has read it, sealed for the members of an
 * epoch (docs/PROTOCOL.md, section 10).
 */
export const ReceiptFields = z.object({
  /** The epoch under a key of which it is sealed. */
  epoch: Epoch,
  /** The device has processed all entries up to this one. */
  position: Seq.check(z.minimum(1)),
  sealed: base64Url(limits.receiptMax),
  /**
   * The device's, over {uint8 version = 1, opaque conversationId<V>, uint64 epoch, opaque userId<V>, opaque deviceId<V>,
   * uint64 position, opaque sealed<V>} by SignWithLabel of RFC 9420 (section 5.1.2) with `SinettiReceipt`: a session alone
   * acknowledges nothing.
   */
  signature: base64Url(64, 64),
});

export const Receipt = z
  .extend(ReceiptFields, { userId: Id, deviceId: Id })
  .register(z.globalRegistry, { id: 'Receipt' });
export type Receipt = z.infer<typeof Receipt>;

export const putReceipt = defineRoute({
  method: 'PUT',
  paths: ['/conversations/{conversationId}/receipt'],
  access: 'device',
  params: ConversationParams,
  body: ReceiptFields,
  status: 204,
  errors: ['forbidden', 'not-found'],
});

export const listReceipts = defineRoute({
  method: 'GET',
  paths: ['/conversations/{conversationId}/receipts'],
  access: 'session',
  params: ConversationParams,
  status: 200,
  response: z.array(Receipt),
  errors: ['not-found'],
});
