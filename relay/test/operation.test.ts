import { once } from 'node:events';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { directConversationId, type LogEntry } from '../contract/index.ts';
import { buildApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { loadSecrets } from '../src/secrets.ts';
import {
  base64Url,
  befriend,
  call,
  signUp,
  signUpBody,
  signUpOnDevice,
  startTestRelay,
  temporaryFolder,
} from './helpers.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => rm(dataDir, { recursive: true }));

const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

describe('the data folder', () => {
  it('keeps accounts, sessions and messages over a restart', async () => {
    const first = await startTestRelay({ dataDir });
    const [aino, eero] = [await signUpOnDevice(first), await signUpOnDevice(first)];
    await befriend(aino, eero);
    const commit = { epoch: 0, commit: base64Url(50), welcomes: [], groupInfo: base64Url(50) };
    await aino.call('POST', `/conversations/${directConversationId(aino.id, eero.id)}/commits`, commit);
    await aino.call('POST', '/logout');
    const params = `/auth/params?identifier=`;
    const decoy = (await call(first, 'GET', `${params}nobody`)).body;
    await first.close();

    const second = await startTestRelay({ dataDir });
    const { token } = eero;
    const entries = await call<LogEntry[]>(second, 'GET', `/messages/user/${aino.id}`, { token });
    expect(entries.body).toMatchObject([{ seq: 1, kind: 'commit', content: commit.commit }]);
    const loggedOut = await call(second, 'GET', '/profile', { token: aino.token });
    expect(loggedOut).toMatchObject({ status: 401, body: { code: 'session-expired' } });
    expect((await call(second, 'GET', `${params}nobody`)).body).toEqual(decoy);
    await second.close();
  });

  it('is of one relay at a time', async () => {
    const first = await startTestRelay({ dataDir });
    await expect(startTestRelay({ dataDir })).rejects.toThrow(
      `The data folder ${dataDir} is in use by another relay. Stop that one, or set DATA_DIR to another folder.`,
    );
    expect((await call(first, 'GET', '/auth/params?identifier=x')).status).toBe(200);
    await first.close();
    await (await startTestRelay({ dataDir })).close();
  });

  it("is made for the relay's account alone", async () => {
    const made = path.join(dataDir, 'deep', 'data');
    const relay = await startTestRelay({ dataDir: made });
    expect(await mode(made)).toBe('700');
    expect(await mode(path.join(made, 'secrets.json'))).toBe('600');
    await relay.close();
    await chmod(path.join(made, 'secrets.json'), 0o644);
    await (await startTestRelay({ dataDir: made })).close();
    expect(await mode(path.join(made, 'secrets.json'))).toBe('600');
  });

  it('gives the same secrets to all who start on it at once, and keeps nothing half made', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadSecrets(dataDir)));
    for (const secrets of all) expect(secrets).toEqual(all[0]);
    expect(await readdir(dataDir)).toEqual(['secrets.json']);
  });

  it.each(['', '{', '{}', '{"jwtSecret":"","decoySecret":""}'])(
    'with damaged secrets stops the start, and is let go: %s',
    async (text) => {
      await writeFile(path.join(dataDir, 'secrets.json'), text);
      await expect(startTestRelay({ dataDir })).rejects.toThrow(/secrets\.json is damaged/);
      await rm(path.join(dataDir, 'secrets.json'));
      await (await startTestRelay({ dataDir })).close();
    },
  );

  it('that is a file stops the start with a sentence', async () => {
    const file = path.join(dataDir, 'file');
    await writeFile(file, '');
    await expect(startTestRelay({ dataDir: file })).rejects.toThrow(`The data folder ${file} can't be made`);
  });

  it('holds neither passwords nor tokens', async () => {
    const relay = await startTestRelay({ dataDir });
    const person = await signUp(relay);
    await relay.close();
    for (const name of await readdir(dataDir)) {
      const bytes = await readFile(path.join(dataDir, name));
      for (const secret of [person.password, person.token]) {
        expect(bytes.includes(secret)).toBe(false);
        expect(bytes.includes(Buffer.from(secret, 'base64url'))).toBe(false);
      }
    }
  });
});

it('a port that is taken is one clear sentence', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const relay = await buildApp({
    config: readConfig({ PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'silent' }),
  });
  await expect(relay.listen()).rejects.toThrow(`Port ${port} is already in use. Set PORT to another one.`);
  await relay.close();
  other.close();
});

const upgradeRequest =
  'GET /ws/presence/ HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';

describe('stopping the relay', () => {
  it('finishes the requests under way and ends the sockets', async () => {
    const relay = await startTestRelay({ dataDir });
    const presence = new WebSocket(relay.presenceUrl);
    const socketClosed = once(presence, 'close');
    await once(presence, 'open');
    const body = JSON.stringify(signUpBody({ username: 'in-flight' }));
    const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.once('close', () => resolve(text));
    });
    // Half a request is under way when the relay stops…
    const received = new Promise<void>((resolve) => {
      relay.relay.app.server.once('request', () => resolve());
    });
    socket.write(
      `POST /api/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 20)}`,
    );
    await received;
    const closed = relay.close();
    // …and its other half comes after that.
    socket.write(body.slice(20));
    expect(await answer).toMatch(/^HTTP\/1\.1 201 [^]*\r\nconnection: close\r\n/i);
    const [code] = (await socketClosed) as [number];
    expect(code).toBe(1001);
    await closed;
    await expect(fetch(relay.url)).rejects.toThrow('fetch failed');

    const later = await startTestRelay({ dataDir });
    expect((await call(later, 'POST', '/register', { body })).body).toMatchObject({ code: 'username-taken' });
    await later.close();
  });

  it('answers new requests and sockets when to come again for as long as a request is under way', async () => {
    const relay = await startTestRelay({ dataDir });
    const port = Number(new URL(relay.url).port);
    const slow = connect({ port, host: '127.0.0.1' });
    const received = once(relay.relay.app.server, 'request');
    slow.write(
      'POST /api/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    );
    await received;
    const closed = relay.close();
    for (const path of ['/api/auth/params?identifier=x', '/healthz', '/readyz']) {
      const answer = await fetch(`${relay.url}${path}`);
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(await answer.json()).toMatchObject({ code: 'unavailable' });
    }
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write(upgradeRequest);
    const [refused] = (await once(socket, 'data')) as [Buffer];
    expect(refused.toString()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\nRetry-After: 5\r\n/);
    // The request under way ends by its client going away.
    slow.destroy();
    await closed;
    await expect(fetch(relay.url)).rejects.toThrow('fetch failed');
  });

  it('answers new requests that it is unavailable while it drains', async () => {
    const relay = await startTestRelay({ dataDir });
    // A client that never answers the closing handshake holds up the drain for a while.
    const mute = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
    mute.write(upgradeRequest);
    const [upgraded] = (await once(mute, 'data')) as [Buffer];
    expect(upgraded.toString()).toMatch(/^HTTP\/1\.1 101 /);
    const closed = relay.close();
    const answer = await call(relay, 'GET', '/auth/params?identifier=x');
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await closed;
    mute.destroy();
  });
});
