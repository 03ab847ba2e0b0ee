import { readFile, rm } from 'node:fs/promises';
import inspector from 'node:inspector/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { startTestRelay, temporaryFolder } from '../../relay/test/helpers.ts';
import { root } from '../support/projectFiles.ts';
import { Browser, befriend, until, untilConnected } from './support/browser.ts';

// Receipts follow on their own, a second later, and polls by the clock: on a slow machine that would be within each message.
vi.mock('#src/services/core/timings.ts', async (original) => {
  const { timings } = await original<{ timings: Record<string, number> }>();
  const later = 3_600_000;
  const byTheClock = Object.keys(timings).filter((name) =>
    /Polling$|Check$|^backupCopying$|^receiptDelay$/.test(name),
  );
  return { timings: { ...timings, ...Object.fromEntries(byTheClock.map((name) => [name, later])) } };
});

// The relay looks for the operator's news each second, which on a slow machine is within each message.
vi.mock(import('../../relay/src/jobs/operatorNews.ts'), () => ({
  createOperatorNewsJob: () => ({ start: () => {}, close: async () => {} }),
}));

/** Files that each of so many messages passes are on the way; others had something else to do at one of those moments. */
const messages = 6;
const product = /^(?:src|workers|crypto-core\/src|relay\/(?:src|contract))\//;

/** Notes which files of the product run a function, by V8's own count. */
async function watchCalls() {
  const session = new inspector.Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    /** Returns the files of which a function with a name was called since the last time; others are exports that are read. */
    async take(): Promise<ReadonlySet<string>> {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const called = result.filter(({ functions }) =>
        functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
      );
      const files = called.map(({ url }) =>
        path.relative(root, url.replace(/^file:\/\//, '').replace(/\?.*$/, '')),
      );
      return new Set(files.filter((file) => product.test(file)));
    },
    stop: () => session.disconnect(),
  };
}

it('a message passes no more files than docs/ARCHITECTURE.md says', async () => {
  const dataDir = await temporaryFolder();
  const relay = await startTestRelay({ dataDir });
  const browsers = [new Browser(relay), new Browser(relay)] as const;
  const anna = await browsers[0].openTab().signUp('anna');
  const bert = await browsers[1].openTab().signUp('bert');
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  const lines: string[] = [];
  async function send(): Promise<void> {
    lines.push(String(lines.length));
    await anna.actions.sendMessage(bert.userId, lines.at(-1) ?? '');
    await until(
      () => bert.lines(anna.userId),
      lines.map((text) => `received: ${text}`),
    );
    await until(
      () => anna.lines(bert.userId),
      lines.map((text) => `sent: ${text}`),
    );
  }
  await send();

  const calls = await watchCalls();
  const rounds: ReadonlySet<string>[] = [];
  for (let sent = 0; sent < messages; sent += 1) {
    await calls.take();
    await send();
    rounds.push(await calls.take());
  }
  calls.stop();
  for (const browser of browsers) browser.close();
  await relay.close();
  await rm(dataDir, { recursive: true });

  const [first = new Set<string>(), ...others] = rounds;
  const files = [...first].filter((file) => others.every((round) => round.has(file))).sort();
  const documented = await readFile(path.join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  const most = Number(/passes at most (\d+)\s+files/.exec(documented)?.[1]);
  // With the names, so that a failure shows the way.
  expect(files.length <= most ? [] : files).toEqual([]);
  expect(files).toContain('workers/messaging/processLog.ts');
});
