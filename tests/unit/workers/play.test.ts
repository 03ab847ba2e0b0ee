/** The play of the page /prove: what its people see comes from the worker's own code, and from nothing of the play. */
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { World } from '#src/services/proof/play.ts';
import { type PlayerScreen, type PlayState, type Trick, tricks } from '#src/store/proof.ts';
import { LogChain } from '#workers/conversation/logChain.ts';
import { createProofApi } from '#workers/entry/proof.ts';
import { Browser, Clock, cheapPasswordKeys } from './support/browser.ts';
import { textOf } from './support/device.ts';

const browser = new Browser('play', new Clock());
let rooms = 0;
/** Instances as the frame starts them, all in one browser. */
function openRoom() {
  rooms += 1;
  return createProofApi(
    {
      env: { random: (length) => crypto.getRandomValues(new Uint8Array(length)), now: () => Date.now() },
      indexedDB: browser.indexedDB,
      locks: browser.locks,
      subtle: crypto.subtle,
      monotonic: () => performance.now(),
      storage: { persisted: async () => true },
      DANGEROUS_passwordKeysForTesting: cheapPasswordKeys,
    },
    `sinetti-proof:${rooms}:`,
  );
}

let world: World;
beforeAll(async () => {
  world = await World.create(openRoom, ['one', 'two', 'three', 'four', 'five']);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const seen = ({ messages }: PlayerScreen) => messages.map(textOf);
const found = ({ events }: PlayerScreen) => events.map(({ change }) => change);

/** The worker's words to Anna of each trick; Bert, to whom nobody lied, is told nothing. */
const told: Record<
  Trick,
  { messages: string[]; changes: unknown[]; keyOffered?: boolean; isDoubted: boolean }
> = {
  drop: {
    messages: ['one', 'two', 'four', 'five'],
    changes: [{ kind: 'missing', count: 1 }],
    isDoubted: true,
  },
  swap: {
    messages: ['one', 'two', 'four', 'three', 'five'],
    changes: [{ kind: 'diverged' }],
    isDoubted: true,
  },
  replay: {
    messages: ['one', 'two', 'three', '(damaged)', 'four', 'five'],
    changes: [{ kind: 'diverged' }],
    isDoubted: true,
  },
  alter: {
    messages: ['one', 'two', '(damaged)', 'four', 'five'],
    changes: [{ kind: 'diverged' }],
    isDoubted: true,
  },
  // The message that Anna writes waits, so that nothing of it goes to the relay's key.
  key: { messages: ['one', 'two', 'five'], changes: [], keyOffered: true, isDoubted: false },
  device: {
    messages: ['one', 'two'],
    changes: [{ kind: 'refused', code: 'decrypt-failed' }],
    isDoubted: false,
  },
  rollback: {
    messages: ['one', 'two', 'three', 'five'],
    changes: [{ kind: 'missing', count: 1 }],
    isDoubted: true,
  },
};

function expectFair(state: PlayState): void {
  expect(state.noticedBy).toEqual([]);
  for (const screen of Object.values(state.screens)) {
    expect(seen(screen)).toEqual(['one', 'two']);
    expect(screen).toMatchObject({ events: [], keyOffered: false, isDoubted: false });
  }
}

describe('the play', () => {
  it('raises no alarm while the relay does its duty, and the relay has sealed bytes alone', async () => {
    const state = await world.play(null);
    expectFair(state);
    expect(state.log.map(({ from, kind }) => `${from} ${kind}`)).toEqual([
      'anna commit',
      'anna application',
      'bert commit',
      'bert application',
    ]);
    expect(JSON.stringify(state.log)).not.toMatch(/"(?:one|two)"/);
  });

  it.each(tricks)('shows Anna that the relay does: %s', async (trick) => {
    const { noticedBy, screens } = await world.play(trick);
    const { changes, isDoubted, keyOffered = false, messages } = told[trick];
    expect(seen(screens.anna)).toEqual(messages);
    expect(found(screens.anna)).toEqual(changes);
    expect(screens.anna).toMatchObject({ keyOffered, isDoubted });
    expect(noticedBy).toEqual(['anna']);
    expect(screens.bert).toMatchObject({ events: [], keyOffered: false, isDoubted: false });
    // The next play begins anew.
    expectFair(await world.play(null));
  });

  it('keeps the message to a key that is not Bert’s from the relay', async () => {
    const { log, screens } = await world.play('key');
    expect(screens.anna.messages.at(-1)).toMatchObject({ status: 'sending' });
    expect(log).toHaveLength(4);
  });

  it.each(['drop', 'swap', 'rollback'] as const)(
    'notices by the worker’s comparison of logs alone: %s',
    async (trick) => {
      vi.spyOn(LogChain.prototype, 'compare').mockResolvedValue({ finding: null, claim: null });
      expect(await world.play(trick)).toMatchObject({ noticedBy: [] });
    },
  );
});
