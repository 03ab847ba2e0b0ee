import { randomUUID } from 'node:crypto';
import type { Db } from '../db/tables.ts';
import type { Hub } from '../realtime/hub.ts';
import { touchDevice } from '../repositories/devices.ts';
import * as sessionRows from '../repositories/sessions.ts';
import { createAccessTokens, sessionExpired } from './accessTokens.ts';
import type { Session } from './session.ts';

const lifetime = 30 * 24 * 60 * 60 * 1000;
/** "Last seen" is kept no finer than this: it is a write on a read path, and nobody needs it to the second. */
const lastSeenResolution = 5 * 60 * 1000;

export interface Sessions {
  /** Opens a session that has no device yet, and returns its access token. */
  open(userId: string): Promise<string>;
  /**
   * @param token the access token as the client sent it; anything at all may be passed
   * @throws ApiError unauthenticated (not one of ours), session-expired (it was, once)
   */
  verify(token: string): Promise<Session>;
  /** Ends a session and closes its live connections. */
  end(sessionId: string): Promise<void>;
}

export interface SessionDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
  readonly jwtSecret: Uint8Array;
}

/**
 * An access token names a session. The session row decides: a token is as good as its row, so logging out ends it at
 * once, and binding a device to it needs no new token.
 */
export function createSessions({ db, hub, clock, jwtSecret }: SessionDependencies): Sessions {
  const tokens = createAccessTokens(jwtSecret);

  return {
    async open(userId) {
      const id = randomUUID();
      const now = clock();
      const expiresAt = now + lifetime;
      await db.transaction().execute(async (tx) => {
        await sessionRows.deletePastSessions(tx, userId, now);
        await sessionRows.insertSession(tx, { id, userId, createdAt: now, expiresAt });
      });
      return tokens.sign({ sessionId: id, userId, expiresAt }, now);
    },

    async verify(token) {
      const now = clock();
      const { sessionId, userId } = await tokens.read(token, now);
      const found = await sessionRows.findLiveSession(db, { id: sessionId, userId, now });
      if (found === null) throw sessionExpired();
      const { lastSeenAt, ...session } = found;
      if (session.deviceId !== null && lastSeenAt !== null && now - lastSeenAt >= lastSeenResolution) {
        await touchDevice(db, session.deviceId, now);
      }
      return session;
    },

    async end(sessionId) {
      await sessionRows.endSession(db, sessionId, clock());
      hub.signal({ type: 'session-ended', sessionId });
    },
  };
}
