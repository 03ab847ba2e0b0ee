import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QuotaName } from '../../src/rateLimits/quotas.ts';
import { signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { create, created, patch, read, remove, uploaded } from '../http/uploads.ts';
import { onlyLimits } from './onlyLimits.ts';

let now: number;
let relay: TestRelay;
beforeEach(() => {
  now = Date.parse('2026-03-01T12:00:00.000Z');
});
afterEach(() => relay.close());

async function start(limits: Partial<Record<QuotaName, string>>): Promise<void> {
  relay = await startTestRelay({ environment: { RATE_LIMITS: onlyLimits(limits) }, clock: () => now });
}

describe('files', () => {
  const refusal = async (response: Response) => [response.status, response.headers.get('retry-after')];

  it('are limited in number for each account', async () => {
    await start({ 'blob-create.account': '2/20s' });
    const [aino, eero] = [await signUp(relay), await signUp(relay)];
    for (let count = 0; count < 2; count++) await created(relay, aino, 10);
    expect(await refusal(await create(relay, aino, 10))).toEqual([429, '10']);
    await created(relay, eero, 10);
    now += 10_000;
    await created(relay, aino, 10);
  });

  it('are limited in bytes for each account, when they are announced; what was not sent is given back', async () => {
    await start({ 'blob-upload.account': '100/100s' });
    const aino = await signUp(relay);
    const id = await created(relay, aino, 60 * 1024);
    expect(await refusal(await create(relay, aino, 50 * 1024))).toEqual([429, '10']);
    await patch(relay, aino, id, 0, Buffer.alloc(20 * 1024));
    await remove(relay, aino, id);
    expect((await create(relay, aino, 81 * 1024)).status).toBe(429);
    expect((await create(relay, aino, 80 * 1024)).status).toBe(201);
    // Too large a file is refused, and takes nothing.
    now += 100_000;
    expect((await create(relay, aino, 200 * 1024 * 1024)).status).toBe(413);
    expect((await create(relay, aino, 100 * 1024)).status).toBe(201);
  });

  it('that are cancelled several times at once give their bytes back once', async () => {
    await start({ 'blob-upload.account': '100/100s' });
    const aino = await signUp(relay);
    for (let count = 0; count < 4; count++) await created(relay, aino, 20 * 1024);
    const id = await created(relay, aino, 20 * 1024);
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(relay, aino, id)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await refusal(await create(relay, aino, 21 * 1024))).toEqual([429, '1']);
    expect((await create(relay, aino, 20 * 1024)).status).toBe(201);
  });

  it('are read only so much for each account, by ranges as well', async () => {
    await start({ 'blob-download.account': '100/100s' });
    const [aino, eero] = [await signUp(relay), await signUp(relay)];
    const id = await uploaded(relay, aino, 60 * 1024);
    expect((await read(relay, eero, id)).status).toBe(200);
    expect(await refusal(await read(relay, eero, id))).toEqual([429, '20']);
    expect((await read(relay, eero, id, { range: 'bytes=0-40959' })).status).toBe(206);
    expect((await read(relay, aino, id)).status).toBe(200);
  });
});
