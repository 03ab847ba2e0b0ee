import type { OpenSession } from '../../contract/index.ts';
import { sessionOf } from '../devices.ts';
import { logIn } from '../helpers.ts';
import { hidden, own, signedIn } from './rows.ts';
import { must, type World } from './world.ts';

/** The id of a session of the creator's that no other row needs: a log-in for each row would end the creator's own. */
async function spareSession({ relay, creator }: World): Promise<string> {
  const open = await must(creator.call<OpenSession[]>('GET', '/sessions'));
  const spare = open.find((session) => !session.current && session.device_id === null);
  return spare?.id ?? sessionOf((await logIn(relay, creator)).token);
}

export const sessionRows = {
  logout: [own()],
  listSessions: [own()],
  createProofNonce: [own()],
  endSession: [signedIn(hidden, async (world) => ({ id: await spareSession(world) }))],
};
