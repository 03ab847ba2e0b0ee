import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ErrorBody, type Profile, presencePath } from '../contract/index.ts';
import { buildApp, type Relay } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type Answer, call } from './call.ts';
import { certificateOf, withSignature } from './devices.ts';
import { copyPostgres, copySqlite } from './migrated.ts';
import { proofHeaders, proofKeyOf } from './proofs.ts';
import { createDatabase, dropDatabase } from './servers/postgres.ts';

export interface TestRelay {
  /** e.g. http://127.0.0.1:40123, without a slash at the end. */
  readonly url: string;
  readonly wsUrl: string;
  readonly mqttUrl: string;
  readonly presenceUrl: string;
  /** The listener of the keys. Null unless a web client is served. */
  readonly keysUrl: string | null;
  /** Null unless METRICS_PORT is set. */
  readonly metricsUrl: string | null;
  readonly dataDir: string;
  /** The settings by which its database is found. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every line that the relay has logged. */
  readonly logLines: readonly string[];
  readonly relay: Relay;
  /** Stops the relay, and removes its data folder unless it was given one. */
  close(): Promise<void>;
}

export interface TestRelayOptions {
  /** Settings by the name of their environment variable. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder that outlives the relay. */
  readonly dataDir?: string;
  readonly clock?: () => number;
  /** Bytes that the database's disk can take. */
  readonly freeBytes?: () => Promise<number>;
}

/** Writes what stands for a built web client. */
export async function writeWebClient(webDir: string): Promise<void> {
  const files = {
    'app/index.html':
      '<!doctype html><title>Sinetti</title><script type="importmap">{"integrity":{}}</script>',
    'app/assets/index-B2x_4f.js': 'page();',
    'app/service-worker.js': 'keep();',
    'keys/keys.html': '<!doctype html><title>Keys</title><script type="module">frame();</script>',
    'keys/storage.html': '<!doctype html><title>Storage</title><script type="module">storage();</script>',
    'keys/assets/keys-B2x_4f.css': 'form {}',
    'keys/assets/crypto.worker-Aa1-b_2.js': 'worker();',
    'keys/service-worker.js': 'keep();',
  };
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(webDir, file)), { recursive: true });
    await writeFile(path.join(webDir, file), content);
  }
}

/** A real relay on a free port of this machine, on an empty data folder. */
export async function startTestRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const dataDir = options.dataDir ?? (await temporaryFolder());
  // A folder that a test brings has what it wants there, and what belongs to that database alone.
  const isOwn = options.dataDir === undefined;
  const database = await testDatabase(dataDir, isOwn ? copyPostgres : createDatabase);
  if (database === null && isOwn) await copySqlite(dataDir);
  const logLines: string[] = [];
  const relay = await buildApp({
    config: readConfig({
      PORT: '0',
      LOG_LEVEL: 'trace',
      // A test must not depend on a built web client.
      WEB_DIR: path.join(dataDir, 'no-web-client'),
      // Everybody in a test comes from one address; the other limits stay.
      RATE_LIMITS: 'sign-up.address=off',
      ...database?.environment,
      ...options.environment,
      DATA_DIR: dataDir,
    }),
    logStream: { write: (line) => void logLines.push(line) },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.freeBytes === undefined ? {} : { freeBytes: options.freeBytes }),
  });
  const { keysPort, port, metricsPort } = await relay.listen();
  const wsUrl = `ws://127.0.0.1:${port}`;
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl,
    mqttUrl: `${wsUrl}/mqtt`,
    presenceUrl: `${wsUrl}${presencePath}`,
    keysUrl: keysPort === null ? null : `http://127.0.0.1:${keysPort}`,
    metricsUrl: metricsPort === null ? null : `http://127.0.0.1:${metricsPort}/metrics`,
    dataDir,
    environment: { ...database?.environment, DATA_DIR: dataDir },
    logLines,
    relay,
    async close() {
      await relay.close();
      if (options.dataDir !== undefined) return;
      await rm(dataDir, { recursive: true });
      await database?.drop();
    },
  };
}

/**
 * The database in the place of a data folder's own where the tests run on PostgreSQL: the same for the same
 * folder. Null where they run on SQLite.
 * @param create makes it unless it is there
 */
async function testDatabase(dataDir: string, create: typeof copyPostgres) {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl === undefined) return null;
  const name = `test_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  await create(serverUrl, name);
  const url = new URL(serverUrl);
  url.pathname = name;
  return {
    environment: { DATABASE_URL: url.href, DATABASE_POOL_SIZE: '5' },
    drop: () => dropDatabase(serverUrl, name),
  };
}

export const temporaryFolder = () => mkdtemp(path.join(tmpdir(), 'sinetti-relay-'));

export { type Answer, call } from './call.ts';

export const base64Url = (length: number) => randomBytes(length).toString('base64url');

/** A vault as a client seals it anew, in the place of the one at `version`. */
export function rotatedVault(version: number, recoveryWrap: string | null = null) {
  return { version, sealedVault: base64Url(200), passwordWrap: base64Url(73), recoveryWrap };
}

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly password: string;
  readonly salt: string;
  readonly token: string;
  /** Calls as this person, who types the password where the call takes a proof; and as the device, which signs. */
  call<T = ErrorBody>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
}

export interface PersonOnDevice extends Person {
  readonly deviceId: string;
  readonly certificate: string;
}

/** A sign-up body that the relay accepts. */
export function signUpBody(overrides: Record<string, unknown> = {}) {
  const username = `user${randomUUID().slice(0, 8)}`;
  const password = base64Url(32);
  return {
    username,
    email: `${username}@example.org`,
    password,
    passwordProofKey: proofKeyOf(password),
    passwordParams: { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 },
    consent: { privacyConsent: true, consentTimestamp: '2026-03-01T12:00:00.000Z' },
    ...overrides,
  };
}

/** Signs somebody up. */
export async function signUp(
  relay: Pick<TestRelay, 'url'>,
  overrides: Record<string, unknown> = {},
): Promise<Person> {
  const body = signUpBody(overrides);
  const answer = await call<{ access_token: string; user: Profile }>(relay, 'POST', '/register', { body });
  if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status}`);
  return {
    id: answer.body.user.id,
    username: body.username,
    email: body.email,
    password: body.password,
    salt: body.passwordParams.salt,
    ...signedIn(relay, answer.body.access_token, body.password),
  };
}

/** Signs somebody up and registers a device. */
export async function signUpOnDevice(
  relay: Pick<TestRelay, 'url'>,
  overrides: Record<string, unknown> = {},
): Promise<PersonOnDevice> {
  return onDevice(relay, await signUp(relay, overrides));
}

/** The same person in another session, on another device. */
export async function onAnotherDevice(
  relay: Pick<TestRelay, 'url'>,
  person: Person,
): Promise<PersonOnDevice> {
  return onDevice(relay, await logIn(relay, person));
}

/** The same person in another session that has no device yet. */
export async function logIn(relay: Pick<TestRelay, 'url'>, person: Person): Promise<Person> {
  const body = { email: person.username, password: person.password };
  const answer = await call<{ access_token: string }>(relay, 'POST', '/login', { body });
  if (answer.status !== 200) throw new Error(`log-in answered ${answer.status}`);
  return { ...person, ...signedIn(relay, answer.body.access_token, person.password) };
}

/** Makes two people contacts. */
export async function befriend(one: Person, other: Person): Promise<void> {
  await one.call('POST', `/contacts/request/${other.id}`);
  const answer = await other.call('POST', `/contacts/request/${one.id}`);
  if (answer.status !== 201) throw new Error(`the contact request answered ${answer.status}`);
}

async function onDevice(relay: Pick<TestRelay, 'url'>, person: Person): Promise<PersonOnDevice> {
  const deviceId = randomUUID();
  const certificate = certificateOf(person.id, deviceId);
  const answer = await person.call('PUT', `/devices/${deviceId}`, { name: 'A browser', certificate });
  if (answer.status !== 200) throw new Error(`registering the device answered ${answer.status}`);
  const signing = { deviceId, token: person.token };
  return {
    ...person,
    deviceId,
    certificate,
    call: async (method, path, body) =>
      person.call(method, path, await withSignature(relay, signing, method, path, body)),
  };
}

function signedIn(
  relay: Pick<TestRelay, 'url'>,
  token: string,
  authKey: string,
): Pick<Person, 'token' | 'call'> {
  return {
    token,
    async call(method, path, given) {
      const body = await withSignature(relay, { deviceId: null, token }, method, path, given);
      const headers = await proofHeaders(relay, { token, authKey }, { method, path, body });
      return call(relay, method, path, { token, headers, ...(body === undefined ? {} : { body }) });
    },
  };
}
