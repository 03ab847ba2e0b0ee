/**
 * When the person of this browser has last agreed to a release, in milliseconds since 1970; 0 before that, and absent at a relay
 * that signs none. Pages alone keep it: a service worker has no localStorage.
 */
export const releaseAgreementKey = 'release-agreed';

/** Milliseconds in which a version comes into use that was agreed to: browsers wait for requests under way. */
const patience = 120_000;

/** Returns whether a version that takes over does so by nobody's leave. */
export function isTakenOver(storage: Pick<Storage, 'getItem'>, now: number): boolean {
  const agreed = storage.getItem(releaseAgreementKey);
  return agreed !== null && now - Number(agreed) > patience;
}
