import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ContactTrust, CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { createSignedNames } from '#src/services/people/names.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { nameOfAtom, otherNamesAtom } from '#src/store/names.ts';
import { trustAtom } from '#src/store/trust.ts';
import { settled } from '../net/support/fakeClock.ts';
import { peer, type TestDeps, testDeps } from './support/deps.ts';

const api = { signedNames: vi.fn<Api['signedNames']>() };
const worker = { takeNames: vi.fn<CryptoApi['takeNames']>() };
const reload = vi.fn<() => Promise<void>>();
let deps: TestDeps;

beforeEach(() => {
  vi.resetAllMocks();
  api.signedNames.mockResolvedValue([]);
  deps = testDeps({ api, crypto: worker });
  createSignedNames(deps, { reload }, createBackground(deps.log));
});

function know(name: string | null): void {
  const trust: ContactTrust = { userId: peer, verifiedAt: null, keyOffered: false, name, changedAt: [] };
  deps.store.set(trustAtom, () => new Map([[peer, trust]]));
}

function list(username: string): void {
  const items = [{ id: peer, username, email: 'b@example.org' }];
  deps.store.set(contactsAtom, { ...deps.store.get(contactsAtom), items });
}

const shown = () => deps.store.get(contactsAtom).items[0]?.username;
const other = () => deps.store.get(otherNamesAtom).get(peer);

describe('a contact who has signed a name', () => {
  it('is shown by it, and the relay that says another is told of, once it was asked for a later one', async () => {
    know('bob');
    list('carol');
    expect(shown()).toBe('bob');
    expect(deps.store.get(nameOfAtom)(peer)).toBe('bob');
    expect(other()).toBeUndefined();
    await settled();
    expect(api.signedNames.mock.calls).toEqual([[[peer]]]);
    expect(other()).toBe('carol');
  });

  it('has another one without a word where they have signed that since', async () => {
    know('bob');
    api.signedNames.mockResolvedValue([{ user_id: peer, signed_name: 'c2lnbmVk' }]);
    reload.mockImplementation(async () => know('robert'));
    list('robert');
    await settled();
    expect(worker.takeNames).toHaveBeenCalledExactlyOnceWith([{ userId: peer, signedName: 'c2lnbmVk' }]);
    expect(shown()).toBe('robert');
    expect(other()).toBeUndefined();
  });

  it('is asked about once, and not again at every reading of the list', async () => {
    know('bob');
    for (let i = 0; i < 3; i += 1) {
      list('carol');
      await settled();
    }
    expect(api.signedNames).toHaveBeenCalledOnce();
  });

  it('raises nothing while the relay is out of reach, and none for another case', async () => {
    know('bob');
    api.signedNames.mockRejectedValueOnce(new NetworkError('unreachable'));
    list('robert');
    await settled();
    expect([shown(), other()]).toEqual(['bob', undefined]);
    list('BOB');
    await settled();
    expect([shown(), other()]).toEqual(['BOB', undefined]);
  });
});

describe('a contact who has signed none', () => {
  it('is shown as the relay says', async () => {
    know(null);
    list('carol');
    await settled();
    expect(api.signedNames).toHaveBeenCalledOnce();
    expect([shown(), other()]).toEqual(['carol', undefined]);
  });

  it('is not asked about before a device of theirs was seen', async () => {
    list('carol');
    await settled();
    expect(api.signedNames).not.toHaveBeenCalled();
  });
});
