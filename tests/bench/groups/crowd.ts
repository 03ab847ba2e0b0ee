// People who sign up with real keys on real devices, ask somebody to be a contact, and are never heard of again. A
// program of its own: crowd.js <relay> <id of who is asked> <first number> <last number> <devices of each>
// or, for one more device of somebody: crowd.js <relay> <username> <password>
import 'fake-indexeddb/auto';
import { createHash } from 'node:crypto';
import { IDBFactory } from 'fake-indexeddb';
import { systemClock } from '#src/lib/clock.ts';
import { createKeyedQueue } from '#src/lib/keyedQueue.ts';
import { createLog } from '#src/lib/log.ts';
import { forEachLimited } from '#src/lib/parallel.ts';
import { createApi } from '#src/net/api.ts';
import { createHttp } from '#src/net/http.ts';
import { browserEnv } from '#workers/entry/browserEnv.ts';
import { createCryptoApi } from '#workers/entry/createCryptoApi.ts';

const peopleAtOnce = 8;
const keyPackagesEach = 3;

const [relayUrl = '', ...args] = process.argv.slice(2);

/** A hash in place of Argon2id: nobody guesses these passwords. */
function cheapPasswordKeys(password: string, { salt }: { readonly salt: Uint8Array }) {
  const key = (label: string) =>
    new Uint8Array(createHash('sha256').update(label).update(salt).update(password).digest());
  return { authKey: key('auth'), wrapKey: key('wrap'), proofSeed: key('proof') };
}

function newDevice({ cheap }: { cheap: boolean }) {
  let token: string | null = null;
  const http = createHttp({
    host: relayUrl,
    token: () => token,
    onUnauthenticated: () => undefined,
    clock: systemClock,
    log: createLog({ warn: () => undefined, error: () => undefined }),
  });
  const queue = createKeyedQueue();
  const crypto = createCryptoApi({
    env: browserEnv,
    indexedDB: new IDBFactory(),
    locks: { request: (name, task) => queue(name, task) },
    subtle: globalThis.crypto.subtle,
    monotonic: () => performance.now(),
    storage: { persisted: async () => false },
    prompt: { ask: () => Promise.reject(new Error('nobody is at the screen')) },
    ...(cheap ? { DANGEROUS_passwordKeysForTesting: cheapPasswordKeys } : {}),
  });
  const api = createApi(http);

  async function enrol(): Promise<void> {
    const { certificate, deviceId } = await crypto.openDevice();
    const signature = await crypto.signSession(api.sessionId() ?? '');
    await api.putDevice(deviceId, { name: 'One of a crowd', certificate, signature });
    const { keyPackages, lastResort } = await crypto.createKeyPackages(keyPackagesEach, true, 0xf04d);
    await api.publishKeyPackages({
      suite: 0xf04d,
      keyPackages,
      ...(lastResort === null ? {} : { lastResort }),
    });
  }

  return {
    api,

    async signUp(username: string, password: string): Promise<void> {
      const { authKey, passwordParams } = await crypto.beginSignUp(password);
      const answer = await api.register({
        username,
        email: `${username}@example.org`,
        password: authKey,
        passwordParams,
        consent: { privacyConsent: true, consentTimestamp: new Date().toISOString() },
      });
      token = answer.access_token;
      const vault = await crypto.createVault(answer.user.id);
      await crypto.openVault(answer.user.id, { ...vault, ...(await api.putVault({ ...vault, version: 0 })) });
      await enrol();
    },

    async logIn(username: string, password: string): Promise<void> {
      const { authKey } = await crypto.beginLogin(password, await api.authParams(username));
      const answer = await api.login({ email: username, password: authKey });
      token = answer.access_token;
      const { sealedVault, version } = await api.getVault();
      await crypto.openVault(answer.user.id, { ...(await api.getVaultWraps()), sealedVault, version });
      await enrol();
    },
  };
}

async function makeCrowd(askedId: string, numbers: readonly number[], devices: number): Promise<void> {
  await forEachLimited(numbers, peopleAtOnce, async (number) => {
    const username = `crowd-${String(number).padStart(3, '0')}`;
    const first = newDevice({ cheap: true });
    await first.signUp(username, username);
    await first.api.requestContact(askedId);
    for (let more = 1; more < devices; more += 1) await newDevice({ cheap: true }).logIn(username, username);
  });
}

if (args.length === 2) {
  const [username = '', password = ''] = args;
  await newDevice({ cheap: false }).logIn(username, password);
} else {
  const [askedId = '', first, last, devices] = args;
  const numbers = Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  await makeCrowd(askedId, numbers, Number(devices));
}
process.exit(0);
