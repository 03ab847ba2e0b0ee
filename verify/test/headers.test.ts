import { describe, expect, it } from 'vitest';
import { commands } from '../src/chain/expected.ts';
import { compareRelay } from '../src/compare.ts';
import { headersOfRelay } from '../src/manifests.ts';
import { originsOf } from '../src/relay.ts';
import { app, changing, fetcher, first, rememberAnswers, serveRelease } from './support/tamperedRelay.ts';

serveRelease();

/** Answers that are none of a client: of those only headers are looked at by which any answer commands a browser. */
const isBeside = (at: string) =>
  /^\/(?:api\/version|healthz|assets\/none-|\.well-known\/sinetti\/release\.json)/.test(at);

const addressIn = (row: string) => row.slice(0, row.indexOf(': '));
const differenceIn = (row: string) => row.slice(row.indexOf(': ') + 2);

describe('each header of a release, at each address of both origins', () => {
  /** The headers that the release has at an address. */
  type Sent = readonly [at: string, headers: Readonly<Record<string, string>>];
  /** The addresses that are compared, and each header that the release has anywhere. */
  async function served(): Promise<{ addresses: readonly Sent[]; names: readonly string[] }> {
    rememberAnswers();
    const origins = await originsOf(app, fetcher);
    const { rows } = await compareRelay(first.chain.release!, origins, fetcher);
    const addresses = rows
      .filter(({ path: at }) => !isBeside(at))
      .map(
        ({ origin, path: at }) =>
          [`${origin}${at}`, headersOfRelay(first.chain.release!, origin, at, origins)] as const,
      );
    return { addresses, names: [...new Set(addresses.flatMap(([, headers]) => Object.keys(headers)))] };
  }
  const without = (headers: Record<string, string>, name: string) =>
    Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));

  it('has addresses of each kind, and the headers that browsers obey', async () => {
    const { addresses, names } = await served();
    const kinds = ['app/', 'app/…', 'app/index.html', 'app/assets/index-B2x_4f.js', 'app/service-worker.js'];
    const ofKeys = ['/keys', '/keys.html', '/storage', '/storage.html', '/service-worker.js'];
    const workers = ['keys/assets/crypto.worker-Aa1-b_2.js', 'keys/operator.js', 'app/keys', 'app/storage'];
    expect(addresses.map(([at]) => at)).toEqual(
      expect.arrayContaining([...kinds, ...ofKeys.map((at) => `keys${at}`), ...workers]),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'cache-control',
        'content-security-policy',
        'cross-origin-opener-policy',
        'cross-origin-resource-policy',
        'integrity-policy',
        'origin-agent-cluster',
        'permissions-policy',
        'referrer-policy',
        'vary',
        'x-content-type-options',
      ]),
    );
  });

  it('is told of where it is removed', async () => {
    const { addresses, names } = await served();
    for (const name of names) {
      const difference = name === 'vary' ? /^vary is without / : new RegExp(`^${name} is not sent$`);
      const rows = await changing((headers) => without(headers, name));
      const due = addresses.filter(([, headers]) => name in headers).map(([at]) => at);
      expect([name, rows.map(addressIn)]).toEqual([name, due]);
      expect(rows.filter((row) => !difference.test(differenceIn(row)))).toEqual([]);
    }
  });

  it('is told of where one word of it is changed', async () => {
    const { addresses, names } = await served();
    for (const name of names) {
      const rows = await changing((headers, at) =>
        isBeside(at) || headers[name] === undefined
          ? headers
          : { ...headers, [name]: headers[name].replace(/[\w-]+(?=\W*$)/, 'other') },
      );
      const due = addresses.filter(([, headers]) => name in headers).map(([at]) => at);
      expect([name, rows.map(addressIn)]).toEqual([name, due]);
      expect(rows.filter((row) => !differenceIn(row).startsWith(`${name} is `))).toEqual([]);
    }
  });

  it('is told of where it is added, and so is one that no release has', async () => {
    const { addresses, names } = await served();
    for (const name of [...names.filter((each) => each !== 'vary'), ...commands, 'x-more']) {
      const rows = await changing((headers, at) =>
        isBeside(at) || name in headers ? headers : { ...headers, [name]: 'more' },
      );
      const due = addresses.filter(([, headers]) => !(name in headers)).map(([at]) => at);
      expect(rows).toEqual(due.map((at) => `${at}: ${name} is sent, which the release has not`));
    }
  });
});
