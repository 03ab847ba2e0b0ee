import { errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod/mini';
import { Id } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';

/** The claims of a token. */
export interface AccessToken {
  readonly sessionId: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface AccessTokens {
  sign(token: AccessToken, now: number): Promise<string>;
  /**
   * @param text as the client sent it; anything at all may be passed
   * @throws ApiError unauthenticated (not one of ours), session-expired (it was, once)
   */
  read(text: string, now: number): Promise<AccessToken>;
}

const Claims = z.object({ sub: Id, sid: Id, exp: z.int() });

/** About five megabytes of them. */
const maxKnown = 10_000;

/**
 * JWTs (RFC 7519, HS256) that name a session. A signature doesn't change, and a live connection shows its token with
 * every message, so tokens that were found good are remembered; whether the session lives is asked elsewhere, anew.
 */
export function createAccessTokens(jwtSecret: Uint8Array): AccessTokens {
  const known = new Map<string, AccessToken>();

  return {
    async sign({ sessionId, userId, expiresAt }, now) {
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(userId)
        .setIssuedAt(Math.floor(now / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(jwtSecret);
    },

    async read(text, now) {
      let token = known.get(text);
      if (token === undefined) {
        token = await verify(text, jwtSecret, now);
        const [oldest] = known.keys();
        if (oldest !== undefined && known.size >= maxKnown) known.delete(oldest);
        known.set(text, token);
      }
      if (token.expiresAt > now) return token;
      known.delete(text);
      throw sessionExpired();
    },
  };
}

async function verify(text: string, jwtSecret: Uint8Array, now: number): Promise<AccessToken> {
  try {
    const { payload } = await jwtVerify(text, jwtSecret, {
      algorithms: ['HS256'],
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    });
    const { sub, sid, exp } = Claims.parse(payload);
    return { userId: sub, sessionId: sid, expiresAt: exp * 1000 };
  } catch (error) {
    if (error instanceof joseErrors.JWTExpired) throw sessionExpired();
    throw new ApiError('unauthenticated', 'Please log in.');
  }
}

export const sessionExpired = () => new ApiError('session-expired', 'Session expired. Please login again.');
