import { expect, it } from 'vitest';
import { uuidToBytes } from '#workers/codec/uuid.ts';
import { type ChainRow, putRow, readRow } from '#workers/conversation/chainRows.ts';
import type { TransactionScope } from '#workers/conversation/transactionScope.ts';

const deviceId = '01900000-0000-4000-8000-000000000003';
const row: ChainRow = {
  seq: 7,
  hash: new Uint8Array(32).fill(1),
  digest: new Uint8Array(32).fill(2),
  deviceId,
  claim: { position: 6, count: 3 },
};

/** A transaction whose storage has one row, in the clear. */
function storageOf(stored: { bytes: Uint8Array | null }): TransactionScope {
  const sealer = {
    sealBytes: (_store: string, _key: string, bytes: Uint8Array) => bytes,
    openBytes: (_store: string, _key: string, bytes: Uint8Array) => bytes,
  };
  const store = {
    get: async () => stored.bytes ?? undefined,
    put: async (bytes: Uint8Array) => {
      stored.bytes = bytes;
    },
  };
  return {
    account: { sealer },
    conversationId: 'direct:a:b',
    tx: { objectStore: () => store },
    queueWrite: () => undefined,
  } as unknown as TransactionScope;
}

it('a row of the running hash from before is read as it was written, with six bytes for a position and a count', async () => {
  const bytes = new Uint8Array(92);
  bytes.set(row.hash ?? []);
  bytes.set(row.digest, 32);
  bytes.set(uuidToBytes(deviceId), 64);
  const view = new DataView(bytes.buffer);
  view.setUint32(82, 6);
  view.setUint32(88, 3);
  expect(await readRow(storageOf({ bytes }), 7)).toEqual(row);
});

it.each([
  ['a claim', row.claim, row.claim],
  ['no claim', null, null],
  ['a claim beyond any log, which is left out', { position: 2 ** 33, count: 1 }, null],
  ['a count beyond any log, which is left out', { position: 1, count: 2 ** 33 }, null],
])('a row of the running hash with %s is read as it was written', async (_, claim, read) => {
  const stored = { bytes: null };
  putRow(storageOf(stored), { ...row, claim });
  expect(await readRow(storageOf(stored), 7)).toEqual({ ...row, claim: read });
});
