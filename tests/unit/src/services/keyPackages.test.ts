import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { systemClock } from '#src/lib/clock.ts';
import type { Api } from '#src/net/api.ts';
import { topUp } from '#src/services/account/keyPackages.ts';
import { testDeps } from './support/deps.ts';

const PRESENT = 0xf04d;
const FORMER = 0x004d;
const day = 24 * 60 * 60 * 1000;

let now: number;
let left: { suite: number; available: number; lastResort: boolean }[];
let kept: Map<string, string | null>;
let published: Parameters<Api['publishKeyPackages']>[0][];
let isRefused: boolean;

beforeEach(() => {
  now = Date.parse('2026-03-01T12:00:00.000Z');
  left = [PRESENT, FORMER].map((suite) => ({ suite, available: 30, lastResort: true }));
  kept = new Map();
  published = [];
  isRefused = false;
});

/** Tops up after some days, and tells how many single-use KeyPackages and last-resort ones that publishes by suite. */
async function after(days: number) {
  now += days * day;
  const { api, crypto } = testDeps({
    api: {
      keyPackageCount: async () => ({ available: 0, lastResort: false, suites: left }),
      publishKeyPackages: vi.fn<Api['publishKeyPackages']>(async (body) => {
        if (isRefused) throw new Error('The relay is away.');
        published.push(body);
        return { available: 0 };
      }),
    },
    crypto: {
      createKeyPackages: vi.fn<CryptoApi['createKeyPackages']>(async (count, lastResort) => ({
        keyPackages: Array.from({ length: count }, () => 'a2V5'),
        lastResort: lastResort ? 'bGFzdA' : null,
      })),
      readLocal: async (name) => kept.get(name) ?? null,
      writeLocal: async (name, text) => void kept.set(name, text),
    },
  });
  await topUp({ api, crypto, clock: { ...systemClock, now: () => now } });
  return published
    .splice(0)
    .map(({ keyPackages, lastResort, suite }) => [suite, keyPackages.length, lastResort !== undefined]);
}

describe('KeyPackages of which enough are left', () => {
  const all = [
    [PRESENT, 50, true],
    [FORMER, 20, true],
  ];

  it('are published anew every 45 days, the last-resort ones too, and by a browser that doesn’t know when it did', async () => {
    expect(await after(0)).toEqual(all);
    expect(await after(44)).toEqual([]);
    expect(await after(1)).toEqual(all);
    expect(await after(0)).toEqual([]);
    expect(await after(200)).toEqual(all);
  });

  it('are published anew where the clock has been set back, and where the relay has taken none of them', async () => {
    await after(0);
    expect(await after(-10)).toEqual(all);
    isRefused = true;
    await expect(after(45)).rejects.toThrow('away');
    isRefused = false;
    expect(await after(0)).toEqual(all);
  });

  it('are published anew as far as the relay has room for them', async () => {
    left = [
      { suite: PRESENT, available: 130, lastResort: true },
      { suite: FORMER, available: 60, lastResort: true },
    ];
    expect(await after(0)).toEqual([
      [PRESENT, 10, true],
      [FORMER, 0, true],
    ]);
  });

  it('are topped up between without moving when they are published anew', async () => {
    await after(0);
    left = [
      { suite: PRESENT, available: 5, lastResort: true },
      { suite: FORMER, available: 30, lastResort: true },
    ];
    expect(await after(30)).toEqual([[PRESENT, 45, false]]);
    expect(await after(15)).toEqual(all);
  });
});
