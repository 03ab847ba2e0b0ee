import type * as z from 'zod';
import { type ErrorCode, OutgoingMessage, Ping, pubackProperties } from '../../contract/index.ts';
import { requireDevice, type Session } from '../auth/session.ts';
import { ApiError, toApiError } from '../errors.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import type { PublishPacket } from './decode.ts';
import type { UserProperties } from './encode.ts';
import { ReasonCode } from './reasonCodes.ts';
import { parseTopic } from './topics.ts';

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

/**
 * Does what a PUBLISH asks for. Resolves once the database has committed, and never rejects.
 * @param token proven anew for every packet: the session may have ended, or got its device, since CONNECT
 */
export async function handlePublish(
  services: Pick<RealtimeServices, 'sessions' | 'messaging' | 'log'>,
  token: string,
  packet: PublishPacket,
): Promise<PublishOutcome> {
  try {
    const session = await services.sessions.verify(token);
    return { reasonCode: ReasonCode.Success, userProperties: await perform(services, session, packet) };
  } catch (error) {
    const refusal = toApiError(error);
    if (refusal.code === 'internal') services.log.error({ err: error }, 'a PUBLISH failed');
    return {
      reasonCode: reasonCodes[refusal.code] ?? ReasonCode.UnspecifiedError,
      userProperties: {
        [pubackProperties.code]: refusal.code,
        ...(refusal.extra.epoch === undefined
          ? {}
          : { [pubackProperties.epoch]: String(refusal.extra.epoch) }),
      },
    };
  }
}

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
  if (topic?.kind !== 'messages') throw new ApiError('forbidden', 'Nobody may publish to this topic.');
  const message = parsePayload(OutgoingMessage, packet.payload);
  requireOwn(session, message.senderId);
  if (message.recipientId !== topic.userId) {
    throw new ApiError('invalid-request', 'recipientId is not the person of this topic.');
  }
  const { messageId, recipientId, epoch, content } = message;
  const sent = await services.messaging.send(requireDevice(session), {
    messageId,
    recipientId,
    epoch,
    content,
  });
  return { [pubackProperties.seq]: String(sent.seq), [pubackProperties.timestamp]: sent.timestamp };
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
