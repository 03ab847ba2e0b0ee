import type { Session } from './session.ts';

export interface Sessions {
  /**
   * @param token the access token as the client sent it; anything at all may be passed
   * @throws ApiError unauthenticated (not one of ours), session-expired (it was, once)
   */
  verify(token: string): Promise<Session>;
}
