import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { logIn, signUp, temporaryFolder } from './helpers.ts';

const relayFolder = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);

let built: string;
let dataDir: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  // Inside relay/, because Node looks for packages from where a file is.
  await mkdir(path.join(relayFolder, '.cache'), { recursive: true });
  built = await mkdtemp(path.join(relayFolder, '.cache', 'program-'));
  const compiler = path.resolve(relayFolder, '../node_modules/.bin/tsc');
  await run(compiler, ['-p', path.join(relayFolder, 'tsconfig.build.json'), '--outDir', built]);
}, 120_000);
afterAll(() => rm(built, { recursive: true }));
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(dataDir, { recursive: true });
});

function start(environment: Record<string, string>) {
  const child = spawn(process.execPath, [path.join(built, 'src', 'server.js')], {
    env: {
      PATH: process.env.PATH,
      LOG_LEVEL: 'info',
      PORT: '0',
      DATA_DIR: dataDir,
      WEB_DIR: dataDir,
      ...environment,
    },
  });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return { code: code as number | null, ...output };
  });
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
      const url = /^Sinetti is ready at (http:\/\/localhost:\d+)$/m.exec(output.stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`ended: ${output.stderr}`)));
  });
  // Programs that are meant to end are not waited for to be ready.
  ready.catch(() => undefined);
  return { child, ready, ended };
}

describe('the program', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('says where it is, and ends well on %s', async (signal) => {
    const { child, ready, ended } = start({});
    await signUp({ url: await ready });
    child.kill(signal);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('keeps what it has answered when it is killed, and a second one out until then', async () => {
    const first = start({});
    const person = await signUp({ url: await first.ready });
    expect(await start({}).ended).toMatchObject({
      code: 1,
      stderr: `The data folder ${dataDir} is in use by another relay. Stop that one, or set DATA_DIR to another folder.\n`,
    });
    first.child.kill('SIGKILL');
    await first.ended;
    const second = start({});
    const again = await logIn({ url: await second.ready }, person);
    expect((await again.call('GET', '/profile')).body).toMatchObject({ id: person.id });
  });

  it('ends with one sentence if its port is taken or a setting is wrong', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const taken = await start({ PORT: port }).ended;
    other.close();
    expect(taken).toMatchObject({
      code: 1,
      stderr: `Port ${port} is already in use. Set PORT to another one.\n`,
    });
    expect(await start({ TRUST_PROXY: 'maybe' }).ended).toMatchObject({
      code: 1,
      stderr: 'TRUST_PROXY must be true or false.\n',
    });
  });
});
