import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startTestRelay, type TestRelay } from '../../../relay/test/helpers.ts';
import { chainOf } from '../../src/chain/reading.ts';
import { compareRelay } from '../../src/compare.ts';
import { type Answer, createFetcher, type Fetcher } from '../../src/fetching.ts';
import { originsOf, servedReleases } from '../../src/relay.ts';
import { firstRelease, holders, publish, type SignedChain, told, writeClient } from './releases.ts';

export const people = holders('anna', 'bertta', 'carl');
export let data: string;
export let folder: string;
export let first: SignedChain;
let relay: TestRelay;
/** The origin of the relay's app. */
export let app: string;
export let fetcher: Fetcher;

/** Writes the client and its chain into the folder that the relay serves, as it was before a test changed it. */
async function restore(): Promise<void> {
  for (const part of ['app', 'keys']) await rm(path.join(folder, part), { recursive: true, force: true });
  await writeClient(folder);
  await publish(folder, first);
}

/** Has a relay that serves a release, whole before each test. */
export function serveRelease(): void {
  beforeAll(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'sinetti-tampering-'));
    folder = path.join(data, 'built');
    await writeClient(folder);
    first = await firstRelease(folder, people);
    await publish(folder, first);
    relay = await startTestRelay({
      environment: { WEB_DIR: folder },
      dataDir: path.join(data, 'relay'),
    });
    app = relay.url.replace('127.0.0.1', 'localhost');
    // The relay serves a copy, whose files are read as they are asked for.
    const copies = path.join(data, 'relay/web');
    folder = path.join(copies, (await readdir(copies))[0] ?? '');
  });
  beforeEach(async () => {
    fetcher = createFetcher();
    await restore();
  });
  afterEach(() => fetcher.close());
  afterAll(async () => {
    await relay.close();
    await rm(data, { recursive: true });
  });
}

/** Asks for each answer once from here on, for a test that compares the same ones many times. */
export function rememberAnswers(): void {
  const answers = new Map<string, Promise<Answer>>();
  const asking = fetcher;
  fetcher = {
    ...asking,
    get(...asked) {
      const key = JSON.stringify(asked);
      const answer = answers.get(key) ?? asking.get(...asked);
      answers.set(key, answer);
      return answer;
    },
  };
}

/** Compares what a relay serves now, as `sinetti verify` does. */
export async function differences(at = app): Promise<string[]> {
  const origins = await originsOf(at, fetcher);
  const chain = await chainOf(servedReleases(at, fetcher), first.root, null);
  return told((await compareRelay(chain.release!, origins, fetcher)).rows);
}

/** Starts another relay, on what lies in the folder now. */
export async function withRelay<T>(
  environment: Record<string, string>,
  ask: (url: string) => Promise<T>,
): Promise<T> {
  const other = await startTestRelay({ environment: { WEB_DIR: folder, ...environment } });
  try {
    return await ask(other.url.replace('127.0.0.1', 'localhost'));
  } finally {
    await other.close();
  }
}

/** Compares what comes through somebody who changes answers. */
export async function through(change: (answer: Answer, path: string) => Answer): Promise<string[]> {
  const origins = await originsOf(app, fetcher);
  const changed: Fetcher = {
    ...fetcher,
    get: async (url, ...rest) => change(await fetcher.get(url, ...rest), new URL(url).pathname),
  };
  return told((await compareRelay(first.chain.release!, origins, changed)).rows);
}
/** Compares what comes with other headers. */
export const changing = (change: (headers: Record<string, string>, path: string) => Record<string, string>) =>
  through((answer, at) => ({ ...answer, headers: change(answer.headers, at) }));
/** Compares what comes with another content at one address. */
export const changingBody = (path: string, change: (text: string) => string) =>
  through((answer, at) =>
    at === path
      ? { ...answer, content: Buffer.from(change(Buffer.from(answer.content).toString('utf8'))) }
      : answer,
  );

/** Said of a file that is not the release's. */
export const another = 'its content is another one';
