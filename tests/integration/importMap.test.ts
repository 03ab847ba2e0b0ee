import { describe, expect, it } from 'vitest';
import { withIntegrity } from '../../build/integrity.ts';

const [entry, part] = ['/assets/page-Aa1-b_2c.js', '/assets/About-Bb2-c_3d.js'];
const hashes = new Map([
  [entry, 'sha256-one='],
  [part, 'sha256-other='],
]);
const page = `<head>
    <link rel="icon" href="/favicon.svg" />
    <script type="module" crossorigin src="${entry}"></script>
    <link rel="modulepreload" crossorigin href="${part}">
    <link rel="stylesheet" crossorigin href="/assets/page-Cc3.css">
</head>`;

describe('the import map of a built page', () => {
  it('has the hash of each script of the build, before the page names the first', () => {
    const [, map = ''] =
      /^ {4}<script type="importmap">(.*)<\/script>\n {4}<script type="module"/m.exec(
        withIntegrity(page, hashes),
      ) ?? [];
    expect(JSON.parse(map)).toEqual({ integrity: Object.fromEntries(hashes) });
  });

  it('is beside the hashes of the scripts that the page names, and of nothing else', () => {
    const named = [...withIntegrity(page, hashes).matchAll(/"([^"]+)" integrity="([^"]+)"/g)];
    expect(named.map(([, address, hash]) => [address, hash])).toEqual([...hashes]);
  });

  it('isn’t made for a page that names a script which isn’t there, or none', () => {
    expect(() => withIntegrity(page, new Map([[entry, 'sha256-one=']]))).toThrow(part);
    expect(() => withIntegrity('<head></head>', hashes)).toThrow('no script');
  });
});
