import type * as z from 'zod';
import {
  type ErrorCode,
  OutgoingGroupMessage,
  OutgoingMessage,
  Ping,
  pubackProperties,
  type SentMessage,
} from '../../contract/index.ts';
import { requireDevice, type Session } from '../auth/session.ts';
import { ApiError, toApiError } from '../errors.ts';
import { sharesOf, uploadShare } from '../rateLimits/routeQuotas.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { PublishPacket } from './decode.ts';
import type { UserProperties } from './encode.ts';
import { ReasonCode } from './reasonCodes.ts';
import { parseTopic, type Topic } from './topics.ts';

/** How a PUBLISH went: what PUBACK says of it. */
export interface PublishOutcome {
  readonly reasonCode: ReasonCode;
  readonly userProperties: UserProperties;
}

/** Codes with a reason code of their own; any other is the gateway's own failure. */
const reasonCodes: Partial<Record<ErrorCode, ReasonCode>> = {
  unauthenticated: ReasonCode.NotAuthorized,
  'session-expired': ReasonCode.NotAuthorized,
  'device-required': ReasonCode.NotAuthorized,
  'not-a-contact': ReasonCode.NotAuthorized,
  forbidden: ReasonCode.NotAuthorized,
  'not-found': ReasonCode.NotAuthorized,
  'malformed-json': ReasonCode.PayloadFormatInvalid,
  'invalid-request': ReasonCode.PayloadFormatInvalid,
  'stale-epoch': ReasonCode.ImplementationSpecificError,
  'message-id-taken': ReasonCode.ImplementationSpecificError,
  'limit-reached': ReasonCode.QuotaExceeded,
  'rate-limited': ReasonCode.QuotaExceeded,
  'storage-full': ReasonCode.QuotaExceeded,
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

type PublishServices = Pick<RealtimeServices, 'sessions' | 'rateLimiter' | 'messaging' | 'log'>;

/**
 * Does what a PUBLISH asks for. Resolves once the database has committed, and never rejects.
 * @param from its token is proven anew for every packet: the session may have ended, or got its device, since CONNECT
 */
export async function handlePublish(
  services: PublishServices,
  from: { readonly token: string; readonly address: string },
  packet: PublishPacket,
): Promise<PublishOutcome> {
  try {
    const session = await services.sessions.verify(from.token);
    // As REST does: see http/contractRoutes.
    const kind = parseTopic(packet.topic)?.kind;
    const isSend = kind === 'messages' || kind === 'group';
    const shares = isSend ? sharesOf('send', session.userId, from.address) : [];
    const upload = uploadShare(session.userId, packet.payload.length);
    await services.rateLimiter.take(['request.account', session.userId], ...shares, upload);
    return { reasonCode: ReasonCode.Success, userProperties: await perform(services, session, packet) };
  } catch (error) {
    const refusal = toApiError(error);
    if (refusal.code === 'internal') services.log.error({ err: error }, 'a PUBLISH failed');
    return {
      reasonCode: reasonCodes[refusal.code] ?? ReasonCode.UnspecifiedError,
      userProperties: {
        [pubackProperties.code]: refusal.code,
        ...numberProperty(pubackProperties.epoch, refusal.extra.epoch),
        ...numberProperty(pubackProperties.retryAfter, refusal.extra.retryAfter),
      },
    };
  }
}

const numberProperty = (name: string, value: number | undefined): UserProperties =>
  value === undefined ? {} : { [name]: String(value) };

async function perform(
  services: Pick<RealtimeServices, 'messaging'>,
  session: Session,
  packet: PublishPacket,
): Promise<UserProperties> {
  const topic = parseTopic(packet.topic);
  if (topic?.kind === 'ping') {
    requireOwn(session, parsePayload(Ping, packet.payload).userId);
    return {};
  }
  const sent = await store(services.messaging, session, topic, packet.payload);
  return { [pubackProperties.seq]: String(sent.seq), [pubackProperties.timestamp]: sent.timestamp };
}

async function store(
  messaging: RealtimeServices['messaging'],
  session: Session,
  topic: Topic | null,
  payload: Uint8Array,
): Promise<SentMessage> {
  if (topic?.kind === 'messages') {
    const { messageId, senderId, recipientId, epoch, content } = parsePayload(OutgoingMessage, payload);
    requireOwn(session, senderId);
    requireSame(recipientId, topic.userId, 'recipientId is not the person of this topic.');
    return messaging.send(requireDevice(session), { messageId, recipientId, epoch, content });
  }
  if (topic?.kind === 'group') {
    const { messageId, senderId, groupId, epoch, content } = parsePayload(OutgoingGroupMessage, payload);
    requireOwn(session, senderId);
    requireSame(groupId, topic.groupId, 'groupId is not the group of this topic.');
    return messaging.sendToGroup(requireDevice(session), { messageId, groupId, epoch, content });
  }
  throw new ApiError('forbidden', 'Nobody may publish to this topic.');
}

function requireSame(named: string, addressed: string, detail: string): void {
  if (named !== addressed) throw new ApiError('invalid-request', detail);
}

function requireOwn(session: Session, userId: string): void {
  if (userId !== session.userId) throw new ApiError('forbidden', 'The payload names another sender.');
}

function parsePayload<T>(schema: z.ZodType<T>, payload: Uint8Array): T {
  let json: unknown;
  try {
    json = JSON.parse(utf8.decode(payload));
  } catch {
    throw new ApiError('malformed-json', 'The payload is not JSON.');
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new ApiError('invalid-request', 'The payload does not match its schema.');
  return parsed.data;
}
