import { randomUUID } from 'node:crypto';
import { limits } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, toApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { touchDevice } from '../repositories/devices.ts';
import * as sessionRows from '../repositories/sessions.ts';
import { isSuspended } from '../repositories/suspensions.ts';
import { lockUsers } from '../repositories/users.ts';
import { createAccessTokens, sessionExpired } from './accessTokens.ts';
import { lastSeenResolution } from './lastSeen.ts';
import type { KeptEndCode, Session, SessionEndCode } from './session.ts';

/** Milliseconds that a session of a device lives. A token always does, since its session may get a device. */
export const sessionLifetime = 30 * 24 * 60 * 60 * 1000;
/**
 * Milliseconds for which a session stands for what its person has just proven, and which one without a device lives: a
 * browser gets its device within seconds, and the person's list of devices doesn't show one that never does.
 */
export const provenLifetime = 15 * 60 * 1000;

export interface Sessions {
  /**
   * Opens a session that has no device yet, and ends soon unless it gets one. Beyond `limits.sessionsPerUser` it ends the
   * one that was idle longest.
   * @param options.check throws unless what the person has proven still holds: it is asked while nobody can change the
   *   account, so that a password that is being replaced opens no session that its replacement doesn't end
   * @returns the access token
   * @throws ApiError account-suspended
   */
  open(userId: string, options?: OpenOptions): Promise<string>;
  /**
   * @param token the access token as the client sent it; anything at all may be passed
   * @param options.recovery whether a session that has only proven the recovery key will do
   * @throws ApiError unauthenticated (not one of ours), session-expired (it was, once), device-revoked (and its device
   *   was taken out of use), password-changed (by another session), device-copied (its device is in two places),
   *   account-suspended, forbidden (a recovery session)
   */
  verify(token: string, options?: { readonly recovery: boolean }): Promise<Session>;
  /** A person's sessions that have neither ended nor expired, oldest first. */
  openOf(userId: string): Promise<sessionRows.SessionRow[]>;
  /** Ends a session and closes its live connections. */
  end(sessionId: string): Promise<void>;
}

export interface OpenOptions {
  readonly purpose?: sessionRows.SessionPurpose;
  readonly check?: (tx: Db) => Promise<void>;
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
    async open(userId, { purpose = 'full', check } = {}) {
      const id = randomUUID();
      const now = clock();
      const expiresAt = now + provenLifetime;
      const ended = await db.transaction().execute(async (tx) => {
        await lockUsers(tx, [userId]);
        await check?.(tx);
        if (await isSuspended(tx, userId)) throw sessionEnded('account-suspended');
        await sessionRows.deletePastSessions(tx, userId, now);
        // The new one is one of them.
        const kept = limits.sessionsPerUser - 1;
        const idlest = await sessionRows.idlestSessions(tx, { userId, kept, now });
        for (const idle of idlest) await sessionRows.endSession(tx, idle, now);
        await sessionRows.insertSession(tx, { id, userId, createdAt: now, expiresAt, purpose });
        return idlest;
      });
      tellEnded(hub, ended, 'session-expired');
      return tokens.sign({ sessionId: id, userId, expiresAt: now + sessionLifetime }, now);
    },

    async verify(token, { recovery } = { recovery: false }) {
      const now = clock();
      const { sessionId, userId } = await tokens.read(token, now);
      const found = await sessionRows.findLiveSession(db, { id: sessionId, userId, now });
      if (found === null) {
        throw sessionEnded(await sessionRows.endCode(db, { id: sessionId, userId }));
      }
      const { lastSeenAt, purpose, ...session } = found;
      if (purpose === 'recovery' && !recovery) throw recoverySession();
      if (session.deviceId !== null && lastSeenAt !== null && now - lastSeenAt >= lastSeenResolution) {
        await touchDevice(db, session.deviceId, now).catch(unlessStorageIsOut);
      }
      return session;
    },

    openOf: (userId) => sessionRows.liveSessionsOf(db, userId, clock()),

    async end(sessionId) {
      await sessionRows.endSession(db, sessionId, clock());
      tellEnded(hub, [sessionId], 'session-expired');
    },
  };
}

const endDetails: Readonly<Record<KeptEndCode, string>> = {
  'device-revoked': 'This device was removed from the account.',
  'password-changed': 'The password was changed on another device. Log in with the new one.',
  'device-copied': "This browser's data is in use in two places. Log in again.",
  'account-suspended': 'This account is suspended. Ask whoever runs this server.',
};

const sessionEnded = (code: KeptEndCode | null) =>
  code === null ? sessionExpired() : new ApiError(code, endDetails[code]);

export const recoverySession = () => new ApiError('forbidden', 'Set a new password first.');

/** A disk that takes no writes must not keep people from reading: "last seen" is then a little older than it should be. */
function unlessStorageIsOut(error: unknown): void {
  const { code } = toApiError(error);
  if (code !== 'storage-full' && code !== 'unavailable') throw error;
}

/** Closes the live connections of sessions that have been ended, and tells them why. */
export function tellEnded(hub: Hub, sessionIds: readonly string[], code: SessionEndCode): void {
  for (const sessionId of sessionIds) hub.signal({ type: 'session-ended', sessionId, code });
}
