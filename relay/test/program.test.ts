import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId } from '../contract/index.ts';
import { diskSpace } from '../src/diskSpace.ts';
import { eventually } from './eventually.ts';
import {
  base64Url,
  befriend,
  logIn,
  onAnotherDevice,
  signUp,
  signUpOnDevice,
  temporaryFolder,
} from './helpers.ts';
import { messageBody, send } from './http/conversation.ts';
import { type BuiltProgram, buildProgram, mayMount } from './program.ts';

let program: BuiltProgram;
let dataDir: string;

beforeAll(async () => {
  program = await buildProgram();
}, 120_000);
afterAll(() => program.remove());
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(async () => {
  await program.killAll();
  await rm(dataDir, { recursive: true });
});

const start = (environment: Record<string, string>) =>
  program.start({ DATA_DIR: dataDir, WEB_DIR: dataDir, ...environment });

describe("the relay's program", () => {
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

const MiB = 1024 * 1024;

describe('a relay on a disk that fills up', () => {
  it('lets people log in, read, delete and leave while nobody can write any more, and goes on when there is room', async ({
    skip,
  }) => {
    if (!(await mayMount())) skip('this machine gives no program a disk of its own (unshare, mount)');
    const { child, ready } = program.start(
      { DATA_DIR: dataDir, WEB_DIR: dataDir, RATE_LIMITS: 'off' },
      120 * MiB,
    );
    const url = await ready;
    const [aino, eero, leaving] = [
      await signUpOnDevice({ url }),
      await signUpOnDevice({ url }),
      await signUp({ url }),
    ];
    await befriend(aino, eero);
    const start = { epoch: 0, commit: base64Url(50), welcomes: [], groupInfo: base64Url(50) };
    await aino.call('POST', `/conversations/${directConversationId(aino.id, eero.id)}/commits`, start);
    const disk = `/proc/${child.pid}/root${dataDir}`;

    const others = `${disk}/others`;
    await writeFile(others, new Uint8Array((await diskSpace(disk)).free - 80 * MiB));
    // Messages fill what is left as far as they may.
    let sent = 0;
    let answer = await send(aino, eero, messageBody(1));
    while (answer.status === 201) {
      const contents = Array.from({ length: 8 }, () => ({ ...messageBody(1), content: base64Url(100_000) }));
      const answers = await Promise.all(contents.map((message) => send(aino, eero, message)));
      sent += answers.filter(({ status }) => status === 201).length;
      answer = answers.find(({ status }) => status !== 201) ?? answer;
    }
    expect(answer).toMatchObject({ status: 507, body: { code: 'storage-full' } });
    expect(sent).toBeGreaterThan(50);
    expect((await diskSpace(disk)).free).toBeGreaterThan(32 * MiB);

    const again = await onAnotherDevice({ url }, eero);
    expect(await again.call('GET', '/conversations')).toMatchObject({ status: 200 });
    expect(await leaving.call('DELETE', '/user')).toMatchObject({ status: 204 });
    await expect(signUp({ url })).rejects.toThrow('507');

    await rm(others);
    await eventually(async () =>
      expect(await send(aino, eero, messageBody(1))).toMatchObject({ status: 201 }),
    );
  });
});

/** Bytes of memory that a process has. */
const residentBytes = async (pid = 0) => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) * 1024;
};

it("a relay's memory holds little of what strangers leave half sent, and lets people log in meanwhile", async () => {
  const { child, ready } = start({ RATE_LIMITS: 'off' });
  const url = await ready;
  const person = await signUp({ url });
  const before = await residentBytes(child.pid);
  const length = 65_000;
  const sockets = Array.from({ length: 755 }, () => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write(
      `POST /api/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
    );
    // In pieces, each of which would be kept by itself.
    for (let sent = 0; sent < length - 1000; sent += 1000) socket.write(' '.repeat(1000));
    socket.resume();
    return socket;
  });
  // All but those that fit have been told to come again.
  await eventually(() => {
    const left = sockets.filter(({ closed }) => !closed);
    expect(left.length).toBeLessThan((16 * MiB) / (length - 1000));
  });
  expect((await residentBytes(child.pid)) - before).toBeLessThan(60 * MiB);
  expect((await logIn({ url }, person)).id).toBe(person.id);
  for (const socket of sockets) socket.destroy();
});

describe("the operator's program", () => {
  it('suspends somebody beside the relay, and says so, and what it could not do, by its exit status', async () => {
    const environment = { DATA_DIR: dataDir };
    expect(await program.command(['usage'], environment)).toEqual({
      code: 1,
      stdout: '',
      stderr: `There is no relay.db in ${dataDir}. Set DATA_DIR.\n`,
    });
    const { child, ready, ended } = start({});
    const person = await signUp({ url: await ready });
    expect(await program.command(['people', 'suspend', person.username], environment)).toEqual({
      code: 0,
      stdout: `${person.username} is suspended.\n`,
      stderr: '',
    });
    expect(await person.call('GET', '/profile')).toMatchObject({ body: { code: 'account-suspended' } });
    const settings = `DATA_DIR=${dataDir}\n`;
    const shown = await program.command(['people', 'show', person.id, '--settings', '-'], {}, settings);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(await program.command(['people', 'suspend'], environment)).toMatchObject({ code: 2, stdout: '' });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    const alone = await program.command(['people', 'list', '--suspended', '--json'], environment);
    expect(JSON.parse(alone.stdout)).toMatchObject([{ username: person.username }]);
  });
});
