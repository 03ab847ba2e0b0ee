import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, type LogEntry } from '../contract/index.ts';
import { backUpDataFolder } from '../src/db/sqlite/sqliteBackup.ts';
import { base64Url, befriend, call, signUpOnDevice, startTestRelay, temporaryFolder } from './helpers.ts';
import { messageBody, send, seqs } from './http/conversation.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => rm(folder, { recursive: true }));

describe('a copy of the data folder', () => {
  it('of a relay at work holds everything acknowledged before, and a relay starts on it', async () => {
    const dataDir = path.join(folder, 'data');
    const relay = await startTestRelay({ dataDir });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const commit = { epoch: 0, commit: base64Url(50), welcomes: [], groupInfo: base64Url(50) };
    await aino.call('POST', `/conversations/${directConversationId(aino.id, eero.id)}/commits`, commit);
    for (let index = 0; index < 10; index += 1) await send(aino, eero, messageBody(1));
    const writers = new AbortController();
    const writing = (async () => {
      while (!writers.signal.aborted) await send(eero, aino, messageBody(1));
    })();
    const target = path.join(folder, 'deep', 'copy');
    await backUpDataFolder(dataDir, target);
    writers.abort();
    await writing;
    await relay.close();

    expect((await readdir(target)).sort()).toEqual(['relay.db', 'secrets.json']);
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    const restored = await startTestRelay({ dataDir: target });
    const { token } = eero;
    const log = await call<LogEntry[]>(restored, 'GET', `/messages/user/${aino.id}?limit=200`, { token });
    expect(log.body.length).toBeGreaterThanOrEqual(11);
    expect(seqs(log.body)).toEqual(log.body.map((_entry, index) => index + 1));
    const next = await call(restored, 'POST', `/messages/user/${aino.id}`, { token, body: messageBody(1) });
    expect(next).toMatchObject({ status: 201, body: { seq: log.body.length + 1 } });
    await restored.close();
  });

  it('waits where the file is somebody else’s for a moment', async () => {
    const dataDir = path.join(folder, 'data');
    await (await startTestRelay({ dataDir })).close();
    const holder = fork(fileURLToPath(new URL('holdDatabase.mjs', import.meta.url)), [
      path.join(dataDir, 'relay.db'),
    ]);
    await once(holder, 'message');
    const target = path.join(folder, 'copy');
    await backUpDataFolder(dataDir, target);
    expect((await readdir(target)).sort()).toEqual(['relay.db', 'secrets.json']);
  });

  it('is made of a data folder only, and never over something else', async () => {
    await expect(backUpDataFolder(folder, path.join(folder, 'copy'))).rejects.toThrow(
      `There is no relay.db in ${folder}. Set DATA_DIR.`,
    );
    const relay = await startTestRelay({ dataDir: folder });
    await mkdir(path.join(folder, 'copy'));
    await expect(backUpDataFolder(folder, path.join(folder, 'copy'))).rejects.toThrow(
      `${path.join(folder, 'copy')} is there already. Name a folder that is not.`,
    );
    await relay.close();
  });
});
