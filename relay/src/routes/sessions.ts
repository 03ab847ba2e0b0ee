import type { OpenSession } from '../../contract/index.ts';
import type { Session } from '../auth/session.ts';
import type { Sessions } from '../auth/sessions.ts';
import { ApiError } from '../errors.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { time } from './encoding.ts';

export function sessionHandlers({ sessions }: Services) {
  return {
    logout: ({ session }) => sessions.end(session.id),

    listSessions: ({ session }) => openSessionsOf(sessions, session),

    endSession: async ({ session, params, requireProof }) => {
      const ended = (await sessions.openOf(session.userId)).find(({ id }) => id === params.id);
      if (ended === undefined) throw new ApiError('not-found', 'There is no such session.');
      // Without a proof a stolen token could end each log-in of the person's as they make it, and so keep them out.
      if (ended.id !== session.id && ended.createdAt >= session.createdAt) await requireProof();
      await sessions.end(ended.id);
    },
  } satisfies Partial<Handlers>;
}

/** The person's sessions as the contract has them. @param session the calling one */
export async function openSessionsOf(
  sessions: Pick<Sessions, 'openOf'>,
  session: Session,
): Promise<OpenSession[]> {
  return (await sessions.openOf(session.userId)).map((one) => ({
    id: one.id,
    device_id: one.deviceId,
    created_at: time(one.createdAt),
    last_seen_at: time(one.lastSeenAt),
    expires_at: time(one.expiresAt),
    current: one.id === session.id,
  }));
}
