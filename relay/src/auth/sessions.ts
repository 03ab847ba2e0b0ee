import { randomUUID } from 'node:crypto';
import { errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import { Id } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { touchDevice } from '../repositories/devices.ts';
import * as sessionRows from '../repositories/sessions.ts';
import type { Session } from './session.ts';

const lifetime = 30 * 24 * 60 * 60 * 1000;
/** "Last seen" is kept no finer than this: it is a write on a read path, and nobody needs it to the second. */
const lastSeenResolution = 5 * 60 * 1000;

const Claims = z.object({ sub: Id, sid: Id });

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
 * Access tokens are JWTs (RFC 7519, HS256) that name a session. The session row decides: a token is as good as its
 * row, so logging out ends it at once, and binding a device to it needs no new token.
 */
export function createSessions({ db, hub, clock, jwtSecret }: SessionDependencies): Sessions {
  return {
    async open(userId) {
      const id = randomUUID();
      const now = clock();
      const expiresAt = now + lifetime;
      await db.transaction().execute(async (tx) => {
        await sessionRows.deletePastSessions(tx, userId, now);
        await sessionRows.insertSession(tx, { id, userId, createdAt: now, expiresAt });
      });
      return new SignJWT({ sid: id })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(userId)
        .setIssuedAt(Math.floor(now / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(jwtSecret);
    },

    async verify(token) {
      const now = clock();
      const { sub, sid } = await readClaims(token, jwtSecret, now);
      const found = await sessionRows.findLiveSession(db, { id: sid, userId: sub, now });
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

async function readClaims(
  token: string,
  jwtSecret: Uint8Array,
  now: number,
): Promise<z.infer<typeof Claims>> {
  try {
    const { payload } = await jwtVerify(token, jwtSecret, {
      algorithms: ['HS256'],
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    });
    return Claims.parse(payload);
  } catch (error) {
    if (error instanceof joseErrors.JWTExpired) throw sessionExpired();
    throw new ApiError('unauthenticated', 'Please log in.');
  }
}

const sessionExpired = () => new ApiError('session-expired', 'Session expired. Please login again.');
