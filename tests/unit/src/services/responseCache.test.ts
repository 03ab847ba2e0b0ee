import { beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { limits } from '#src/net/contract.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { createResponseCache, type ResponseCache } from '#src/services/core/responseCache.ts';
import { limits as workerLimits } from '#workers/codec/limits.ts';
import { settled } from '../net/support/fakeClock.ts';
import { partial, testDeps } from './support/deps.ts';

const contact = (number: number) => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  username: `Ä${number}`,
  email: `person${number}@example.org`,
});

/** As many groups as a person can be in, with the longest sealed names. */
const longestGroups = Array.from({ length: limits.groupsPerUser }, (_, number) => ({
  id: contact(number).id,
  name: 'A'.repeat(Math.ceil((limits.sealedNameMax * 4) / 3)),
  name_epoch: Number.MAX_SAFE_INTEGER,
  creator_id: contact(number).id,
  member_count: limits.membersPerGroup,
  created_at: '2026-03-01T12:00:00.000Z',
}));

let entries: Map<string, string>;
let writes: number;
let active: boolean;
let answer: () => Promise<ReturnType<typeof contact>[]>;

beforeEach(() => {
  entries = new Map();
  writes = 0;
  active = true;
});

/** As a start of the client does: nothing is known but what was kept. */
function start(): ResponseCache {
  const deps = testDeps();
  return createResponseCache({
    api: partial<Api>({ listContacts: () => answer(), listGroups: async () => longestGroups }),
    crypto: {
      readLocal: async (name) => entries.get(name) ?? null,
      writeLocal: async (name, text) => {
        writes += 1;
        if (text !== null) entries.set(name, text);
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

describe('kept answers of the relay', () => {
  it('can be recalled while asking the relay fails', async () => {
    await keep([contact(1), contact(2)]);
    fail(new NetworkError('unreachable'));
    const { api, recall } = start();
    await expect(api.listContacts()).rejects.toMatchObject({ code: 'unreachable' });
    await expect(recall.listContacts()).resolves.toEqual([contact(1), contact(2)]);
  });

  it('fit one entry of the local store, were they the longest list of groups or 9,000 of the longest contacts', async () => {
    const longestContacts = Array.from({ length: 9000 }, (_, number) => ({
      ...contact(number),
      username: 'な'.repeat(limits.usernameMaxLength),
      email: 'e'.repeat(limits.emailMaxLength),
    }));
    await keep(longestContacts);
    await start().api.listGroups();
    await settled();
    expect([...entries.keys()]).toEqual(['answer:contacts', 'answer:groups']);
    for (const text of entries.values()) {
      expect(new TextEncoder().encode(text).length).toBeLessThan(workerLimits.localEntryText);
    }
    const groups = JSON.parse(entries.get('answer:groups') ?? '');
    expect(groups).toHaveLength(limits.groupsPerUser);
    await expect(start().recall.listGroups()).resolves.toEqual(longestGroups);
  });

  it('are replaced by the next ones', async () => {
    await keep([contact(1), contact(2)]);
    await keep([contact(1)]);
    await expect(start().recall.listContacts()).resolves.toEqual([contact(1)]);
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

  it.each(['', '[', '[{}]', '{"contacts":[]}'])(
    'that are not what the contract says are none: %j',
    async (text) => {
      entries.set('answer:contacts', text);
      await expect(start().recall.listContacts()).resolves.toBeNull();
    },
  );

  it('of a session that is over are not kept: the next one may be somebody else', async () => {
    let late: (contacts: ReturnType<typeof contact>[]) => void = () => undefined;
    answer = () => new Promise((resolve) => (late = resolve));
    const listing = start().api.listContacts();
    active = false;
    late([contact(1)]);
    await listing;
    await settled();
    expect(entries.size).toBe(0);
  });
});
