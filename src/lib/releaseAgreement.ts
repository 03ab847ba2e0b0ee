import { releaseAgreementKey } from '../serviceWorker/messages.ts';

/** Milliseconds in which a version comes into use that was agreed to: browsers wait for requests under way. */
const patience = 120_000;

/**
 * Returns whether a version that takes over does so by nobody's leave.
 * @param wasHeld a release was held on to before: a record of an agreement that was deleted is none
 */
export function isTakenOver(storage: Pick<Storage, 'getItem'>, now: number, wasHeld = false): boolean {
  const agreed = storage.getItem(releaseAgreementKey);
  // A clock that was ahead when the person agreed must not let in whatever comes until that time.
  return agreed === null ? wasHeld : !(Math.abs(now - Number(agreed)) <= patience);
}
