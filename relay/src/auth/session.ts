import { ApiError } from '../errors.ts';

/** A signed-in browser, as proven by its access token. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Null until the browser has registered as a device. */
  readonly deviceId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface DeviceSession extends Session {
  readonly deviceId: string;
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
