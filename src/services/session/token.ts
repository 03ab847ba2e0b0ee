import { claimsOf } from '../../net/tokenClaims.ts';

export const tokenStorageKey = 'token';
/** The device that this browser has become, for its other tabs: their keys are the former one's. */
export const deviceStorageKey = 'device';
/** The keys of values that change as something does that the browser keeps, for the other tabs. They say nothing of it. */
export type TabSignal = 'mutes' | 'drafts';

/** Returns whether a token has three parts and an expiry that has not passed (spec section 4). */
export function isUsableToken(token: string, nowMs: number): boolean {
  const claims = claimsOf(token);
  return claims !== null && claims.exp * 1000 > nowMs;
}

export interface TokenStore {
  read(): string | null;
  save(token: string): void;
  remove(): void;
  /**
   * Removes the token only if it is still this one: a late answer must not end a newer session.
   * @returns whether it was
   */
  removeIf(token: string): boolean;
}

/** The session token, in local storage under the spec's key, shared by all tabs. */
export function createTokenStore(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): TokenStore {
  return {
    read: () => storage.getItem(tokenStorageKey),
    save: (token) => storage.setItem(tokenStorageKey, token),
    remove: () => storage.removeItem(tokenStorageKey),
    removeIf(token) {
      const isStored = storage.getItem(tokenStorageKey) === token;
      if (isStored) storage.removeItem(tokenStorageKey);
      return isStored;
    },
  };
}

const loginProofKey = 'login-proof';

/**
 * The relay's proof of the last log-in of this browser, which tells it from strangers who guess at the account. It names
 * nobody and is worth nothing without the password, so it outlives the session.
 */
export interface LoginProofStore {
  read(): string | undefined;
  save(proof: string): void;
  remove(): void;
}

export function createLoginProofStore(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): LoginProofStore {
  return {
    read: () => storage.getItem(loginProofKey) ?? undefined,
    save: (proof) => storage.setItem(loginProofKey, proof),
    remove: () => storage.removeItem(loginProofKey),
  };
}

/** Returns the id of the person whose token it is. */
export function tokenUserId(token: string): string | null {
  return claimsOf(token)?.sub ?? null;
}
