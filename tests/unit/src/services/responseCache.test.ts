import { beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { createResponseCache, type ResponseCache } from '#src/services/core/responseCache.ts';
import { settled } from '../net/support/fakeClock.ts';
import { partial, testDeps } from './support/deps.ts';

const contact = (number: number) => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  username: `Ä${number}`,
  email: `person${number}@example.org`,
});

let notes: Map<string, string>;
let writes: number;
let active: boolean;
let answer: () => Promise<ReturnType<typeof contact>[]>;

beforeEach(() => {
  notes = new Map();
  writes = 0;
  active = true;
});

/** As a start of the client does: nothing is known but what was kept. */
function start(): ResponseCache {
  const deps = testDeps();
  return createResponseCache({
    api: partial<Api>({ listContacts: () => answer() }),
    crypto: {
      localEntries: async (prefix = '') =>
        // In no order.
        [...notes].reverse().flatMap(([name, text]) => (name.startsWith(prefix) ? [{ name, text }] : [])),
      readLocal: async (name) => notes.get(name) ?? null,
      writeLocal: async (name, text) => {
        writes += 1;
        if (text === null) notes.delete(name);
        else notes.set(name, text);
      },
    },
    isActive: () => active,
    background: createBackground(deps.log),
  });
}

async function keep(contacts: ReturnType<typeof contact>[]): Promise<void> {
  answer = () => Promise.resolve(contacts);
  await start().api.listContacts();
  await settled();
}

function fail(failure: Error): void {
  answer = async () => {
    throw failure;
  };
}

describe('kept answers', () => {
  it('can be recalled while asking the relay fails', async () => {
    await keep([contact(1), contact(2)]);
    fail(new NetworkError('unreachable'));
    const { api, recall } = start();
    await expect(api.listContacts()).rejects.toMatchObject({ code: 'unreachable' });
    await expect(recall.listContacts()).resolves.toEqual([contact(1), contact(2)]);
  });

  it('may be longer than a note, and shrink again', async () => {
    const many = Array.from({ length: 5000 }, (_, number) => contact(number));
    await keep(many);
    expect(notes.size).toBeGreaterThan(10);
    for (const text of notes.values()) expect(new TextEncoder().encode(text).length).toBeLessThan(64 * 1024);
    await expect(start().recall.listContacts()).resolves.toEqual(many);
    await keep([contact(1)]);
    expect(notes.size).toBe(1);
  });

  it('are written only when they change', async () => {
    answer = () => Promise.resolve([contact(1)]);
    const { api } = start();
    for (let times = 0; times < 3; times += 1) {
      await api.listContacts();
      await settled();
    }
    expect(writes).toBe(1);
  });

  it('are shown at a start without asking, and not written again for that', async () => {
    await keep([contact(1), contact(2)]);
    writes = 0;
    const { api, recall } = start();
    await expect(recall.listContacts()).resolves.toEqual([contact(1), contact(2)]);
    await expect(recall.listSentRequests()).resolves.toBeNull();
    answer = () => Promise.resolve([contact(1), contact(2)]);
    await api.listContacts();
    await settled();
    expect(writes).toBe(0);
  });

  it('that are half written are none', async () => {
    await keep(Array.from({ length: 1000 }, (_, number) => contact(number)));
    notes.delete([...notes.keys()][1] ?? '');
    await expect(start().recall.listContacts()).resolves.toBeNull();
  });

  it('of a session that is over are not kept: the next one may be somebody else', async () => {
    let late: (contacts: ReturnType<typeof contact>[]) => void = () => undefined;
    answer = () => new Promise((resolve) => (late = resolve));
    const listing = start().api.listContacts();
    active = false;
    late([contact(1)]);
    await listing;
    await settled();
    expect(notes.size).toBe(0);
  });
});
