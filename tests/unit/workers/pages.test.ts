import { describe, expect, it } from 'vitest';
import type { MessagePage } from '#workers/api/cryptoApi.ts';
import { ALICE_AND_BOB, createPair, GROUP, textOf } from './support/device.ts';

describe('pages of the message cache', () => {
  it('go back from the end or forward from anywhere, and messages are counted', async () => {
    const { alice, bob } = await createPair();
    const written = ['one', 'two', 'three', 'four', 'five'];
    for (const text of written) await alice.send(ALICE_AND_BOB, text);
    await bob.sync();
    const page = async (which: MessagePage) => (await bob.api.messages(ALICE_AND_BOB, which)).map(textOf);
    const seqs = (await bob.history(ALICE_AND_BOB)).map(({ seq }) => seq ?? 0);

    expect(await page({ limit: 2 })).toEqual(['four', 'five']);
    expect(await page({ before: seqs[3] ?? 0, limit: 2 })).toEqual(['two', 'three']);
    expect(await page({ after: 0, limit: 2 })).toEqual(['one', 'two']);
    expect(await page({ after: seqs[1] ?? 0, limit: 2 })).toEqual(['three', 'four']);
    expect(await page({ after: seqs[3] ?? 0, limit: 2 })).toEqual(['five']);
    expect(await page({ after: seqs[4] ?? 0, limit: 2 })).toEqual([]);
    expect(await bob.api.messageCount(ALICE_AND_BOB)).toBe(5);
    expect(await bob.api.messageCount(GROUP)).toBe(0);
  });

  it.each([{ after: -1, limit: 1 }, { after: 0.5, limit: 1 }, { after: Number.NaN, limit: 1 }, { limit: 0 }])(
    'refuse the bounds %j',
    async (page) => {
      const { alice } = await createPair();
      await expect(alice.api.messages(ALICE_AND_BOB, page)).rejects.toMatchObject({ code: 'usage' });
    },
  );
});
