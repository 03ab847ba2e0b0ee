import type { ErrorCode } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';

/** A signed-in browser, as proven by its access token. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Null until the browser has registered as a device. */
  readonly deviceId: string | null;
  /** Milliseconds since the epoch, when its person proved the password or the recovery key. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface DeviceSession extends Session {
  readonly deviceId: string;
}

/** The codes that the token of a session is answered with once the session has ended. */
export const sessionEndCodes = [
  'session-expired',
  'device-revoked',
  'password-changed',
  'device-copied',
  'account-suspended',
] as const satisfies readonly ErrorCode[];
export type SessionEndCode = (typeof sessionEndCodes)[number];
/** The codes that a session keeps until it expires. */
export type KeptEndCode = Exclude<SessionEndCode, 'session-expired'>;

/** Returns why the session ended whose token was refused with an error. */
export function endCodeOf({ code }: ApiError): SessionEndCode {
  return sessionEndCodes.find((candidate) => candidate === code) ?? 'session-expired';
}

/** A session as far as it never changes: whose it is, and not whether it lives. */
export type Sender = Pick<Session, 'id' | 'userId'>;

export const deviceRequired = () => {
  return new ApiError('device-required', 'Register this browser as a device first.');
};

/** @throws ApiError device-required */
export function requireDevice(session: Session): DeviceSession {
  if (session.deviceId === null) throw deviceRequired();
  return { ...session, deviceId: session.deviceId };
}
