import type * as z from 'zod/mini';
import {
  directConversationId,
  groupConversationId,
  OutgoingGroupMessage,
  OutgoingMessage,
  OutgoingTyping,
  Ping,
  pubackProperties,
  type SentMessage,
} from '../../contract/index.ts';
import type { ServedErrorCode } from '../../contract/served.ts';
import { requireDevice, type Sender } from '../auth/session.ts';
import { ApiError, toApiError } from '../errors.ts';
import { type Action, sharesOf, uploadShare } from '../rateLimits/routeQuotas.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { PublishPacket } from './decode.ts';
import type { UserProperties } from './encode.ts';
import { messageIn } from './messagePayload.ts';
import { ReasonCode } from './reasonCodes.ts';
import { parseTopic, type Topic } from './topics.ts';

/** The outcome of a PUBLISH, for its PUBACK. */
export interface PublishOutcome {
  readonly reasonCode: ReasonCode;
  readonly userProperties: UserProperties;
}

/** Codes with a reason code of their own; any other is the gateway's own failure. */
const reasonCodes: Partial<Record<ServedErrorCode, ReasonCode>> = {
  unauthenticated: ReasonCode.NotAuthorized,
  'session-expired': ReasonCode.NotAuthorized,
  'device-revoked': ReasonCode.NotAuthorized,
  'password-changed': ReasonCode.NotAuthorized,
  'device-copied': ReasonCode.NotAuthorized,
  'account-suspended': ReasonCode.NotAuthorized,
  'device-required': ReasonCode.NotAuthorized,
  'not-a-contact': ReasonCode.NotAuthorized,
  forbidden: ReasonCode.NotAuthorized,
  'not-found': ReasonCode.NotAuthorized,
  malformed: ReasonCode.PayloadFormatInvalid,
  'invalid-request': ReasonCode.PayloadFormatInvalid,
  'stale-epoch': ReasonCode.ImplementationSpecificError,
  'another-start': ReasonCode.ImplementationSpecificError,
  'message-id-taken': ReasonCode.ImplementationSpecificError,
  'limit-reached': ReasonCode.QuotaExceeded,
  quota: ReasonCode.QuotaExceeded,
  'rate-limited': ReasonCode.QuotaExceeded,
  'storage-full': ReasonCode.QuotaExceeded,
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

type PublishServices = Pick<
  RealtimeServices,
  'sessions' | 'rateLimiter' | 'messaging' | 'diskReserve' | 'log'
>;

interface Publisher {
  /** Checked again with every packet, because it may have ended, or have got its device since CONNECT. */
  readonly session: Sender;
  readonly token: string;
  readonly address: string;
}

/**
 * Takes a PUBLISH in. Those of one connection are to be taken in one after another, and are then done in this order;
 * neither promise rejects.
 * @returns what resolves once the database has committed
 */
export async function takePublish(
  services: PublishServices,
  from: Publisher,
  packet: PublishPacket,
): Promise<{ readonly outcome: Promise<PublishOutcome> }> {
  const refused = (error: unknown) => refusal(services, error);
  try {
    const { userId } = from.session;
    const topic = parseTopic(packet.topic);
    // The same quotas as REST's: see http/contractRoutes.
    const action = topic === null ? undefined : actions[topic.kind];
    const shares = action === undefined ? [] : sharesOf(action, userId, from.address);
    const upload = uploadShare(userId, packet.payload.length);
    await services.rateLimiter.take(['request.account', userId], ...shares, upload);
    if (action === 'send') services.diskReserve.requireRoom();
    return { outcome: perform(services, from, topic, packet.payload).then(success, refused) };
  } catch (error) {
    return { outcome: Promise.resolve(refused(error)) };
  }
}

const actions: Partial<Record<Topic['kind'], Action>> = {
  messages: 'send',
  group: 'send',
  typing: 'typing',
  'group-typing': 'typing',
};

/** Before it returns, a message has its place among those of its connection. */
function perform(
  services: PublishServices,
  from: Publisher,
  topic: Topic | null,
  payload: Uint8Array,
): Promise<UserProperties> {
  if (topic?.kind === 'ping') return ping(services, from, payload);
  if (topic?.kind === 'typing' || topic?.kind === 'group-typing') {
    return typing(services, from, topic, payload);
  }
  return send(services.messaging, from.session, topic, payload).then(sent);
}

const sent = ({ seq, timestamp }: SentMessage): UserProperties => ({
  [pubackProperties.seq]: String(seq),
  [pubackProperties.timestamp]: timestamp,
});

const success = (userProperties: UserProperties): PublishOutcome => ({
  reasonCode: ReasonCode.Success,
  userProperties,
});

function refusal({ log }: PublishServices, error: unknown): PublishOutcome {
  const { code, extra } = toApiError(error);
  if (code === 'internal') log.error({ err: error }, 'a PUBLISH failed');
  return {
    reasonCode: reasonCodes[code] ?? ReasonCode.UnspecifiedError,
    userProperties: {
      [pubackProperties.code]: code,
      ...numberProperty(pubackProperties.epoch, extra.epoch),
      ...numberProperty(pubackProperties.retryAfter, extra.retryAfter),
    },
  };
}

const numberProperty = (name: string, value: number | undefined): UserProperties =>
  value === undefined ? {} : { [name]: String(value) };

async function ping(
  { sessions }: PublishServices,
  { token }: Publisher,
  payload: Uint8Array,
): Promise<UserProperties> {
  requireOwn(await sessions.verify(token), parsePayload(Ping, payload).userId);
  return {};
}

async function typing(
  { messaging, sessions }: PublishServices,
  { token }: Publisher,
  topic: Extract<Topic, { kind: 'typing' | 'group-typing' }>,
  payload: Uint8Array,
): Promise<UserProperties> {
  const { content, epoch } = parsePayload(OutgoingTyping, payload);
  const sender = requireDevice(await sessions.verify(token));
  const conversationId =
    topic.kind === 'group-typing'
      ? groupConversationId(topic.groupId)
      : directConversationId(sender.userId, topic.userId);
  await messaging.tellTyping(sender, conversationId, { epoch, content });
  return {};
}

function send(
  messaging: RealtimeServices['messaging'],
  sender: Sender,
  topic: Topic | null,
  payload: Uint8Array,
): Promise<SentMessage> {
  if (topic?.kind === 'messages') {
    const message = messageIn(payload) ?? parsePayload(OutgoingMessage, payload);
    requireOwn(sender, message.senderId);
    requireSame(message.recipientId, topic.userId, 'recipientId is not the person of this topic.');
    const { messageId, recipientId, epoch, content, start } = message;
    return messaging.send(sender, { messageId, recipientId, epoch, content, start });
  }
  if (topic?.kind === 'group') {
    const message = parsePayload(OutgoingGroupMessage, payload);
    const { messageId, senderId, groupId, epoch, content, start } = message;
    requireOwn(sender, senderId);
    requireSame(groupId, topic.groupId, 'groupId is not the group of this topic.');
    return messaging.sendToGroup(sender, { messageId, groupId, epoch, content, start });
  }
  throw new ApiError('forbidden', 'Nobody may publish to this topic.');
}

function requireSame(named: string, addressed: string, detail: string): void {
  if (named !== addressed) throw new ApiError('invalid-request', detail);
}

function requireOwn(sender: Sender, userId: string): void {
  if (userId !== sender.userId) throw new ApiError('forbidden', 'The payload names another sender.');
}

function parsePayload<T>(schema: z.ZodMiniType<T>, payload: Uint8Array): T {
  let json: unknown;
  try {
    json = JSON.parse(utf8.decode(payload));
  } catch {
    throw new ApiError('malformed', 'The payload is not JSON.');
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new ApiError('invalid-request', 'The payload does not match its schema.');
  return parsed.data;
}
