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

/** @throws ApiError device-required */
export function requireDevice(session: Session): DeviceSession {
  if (session.deviceId === null) {
    throw new ApiError('device-required', 'Register this browser as a device first.');
  }
  return { ...session, deviceId: session.deviceId };
}
