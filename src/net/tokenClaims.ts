/** The claims that the client reads; the relay alone verifies the signature. */
export interface TokenClaims {
  /** Seconds since the Unix epoch. */
  readonly exp: number;
  readonly sub: string | null;
  /** The relay's session. */
  readonly sid: string | null;
}

/** Reads a session token; null for what has no three parts with an expiry. */
export function claimsOf(token: string): TokenClaims | null {
  const parts = token.split('.');
  const payload = parts[1];
  if (parts.length !== 3 || payload === undefined) return null;
  try {
    const base64 = payload.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof claims !== 'object' || claims === null) return null;
    if (!('exp' in claims) || typeof claims.exp !== 'number') return null;
    const text = (name: string): string | null => {
      const value: unknown = Reflect.get(claims, name);
      return typeof value === 'string' ? value : null;
    };
    return { exp: claims.exp, sub: text('sub'), sid: text('sid') };
  } catch {
    return null;
  }
}
