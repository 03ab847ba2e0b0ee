import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { doors as rows } from '../../build/doors.mjs';
import { projectFiles, root } from '../support/projectFiles.ts';

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const files = projectFiles().filter(
  (file) => file.endsWith('.md') || !file.startsWith('crypto-core/test/vectors/'),
);
const pages = files.filter((file) => file.endsWith('.md'));
const code = files.filter((file) => /\.(?:tsx?|mjs|css)$/.test(file));
const folders = new Set(files.flatMap((file) => ancestors(file)));

function ancestors(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** As GitHub makes the anchors of headings. */
function anchors(page: string): Set<string> {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[`*]/g, '')
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const comments = (file: string) => (read(file).match(/^\s*(?:\/\/|\/\*|\*).*$/gm) ?? []).join('\n');

const messages = rows.flatMap(({ patterns }) => patterns.map(({ message }) => message));

const architecture = read('docs/ARCHITECTURE.md');
const doors = new Set(
  [...(architecture.split('## Doors')[1] ?? '').matchAll(/^(\d+)\. /gm)].map(([, number]) => number),
);
const sections = new Set(
  [...read('docs/PROTOCOL.md').matchAll(/^## (\d+)\. /gm)].map(([, number]) => number),
);

/** `file: citation` of those that lead nowhere. */
function dangling(
  among: readonly string[],
  pattern: RegExp,
  leads: (citation: string, file: string) => boolean,
  textOf = read,
): string[] {
  return among.flatMap((file) =>
    [...textOf(file).matchAll(pattern)]
      .map(([, citation = '']) => citation)
      .filter((citation) => !leads(citation, file))
      .map((citation) => `${file}: ${citation}`),
  );
}

describe('what is cited exists:', () => {
  it('each section of PROTOCOL', () => {
    const cited = /PROTOCOL,? sections? (\d+(?:(?:, | and )\d+)*)/g;
    const numbers = (citation: string) => citation.split(/, | and /);
    expect(
      dangling([...code, ...pages], cited, (citation) => numbers(citation).every((n) => sections.has(n))),
    ).toEqual([]);
    expect(code.some((file) => cited.test(read(file)))).toBe(true);
  });

  it('each door, and the linter has every one', () => {
    const cited = /\bDoor (\d+)/g;
    expect(doors.size).toBeGreaterThan(0);
    expect(dangling([...code, ...pages], cited, (number) => doors.has(number))).toEqual([]);
    expect(new Set(messages.flatMap((message) => [...message.matchAll(cited)].map(([, n]) => n)))).toEqual(
      doors,
    );
  });

  it('each file that a page or a comment names by its path', () => {
    const paths =
      /(?<![\w/.@-])((?:build|crypto-core|docs|public|relay|src|tests|workers)\/[\w\-./]*\.(?:tsx?|mjs|json|md|css))/g;
    // A page of a package names its own files from its own folder.
    const exists = (named: string, file: string) =>
      existsSync(path.join(root, named)) || existsSync(path.join(root, path.dirname(file), named));
    expect(dangling(pages, paths, exists)).toEqual([]);
    expect(dangling(code, paths, exists, comments)).toEqual([]);
  });

  it('each test that SECURITY names by its title, which may be cut short at the end', () => {
    const cited = /`([\w\-./]+\.(?:spec|test)\.tsx?)`\s*›\s*([^,;|()`]+)/g;
    const words = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll("\\'", "'").trim();
    const named = [...read('SECURITY.md').matchAll(cited)];
    expect(named.length).toBeGreaterThan(0);
    const missing = named.filter(([, file = '', title = '']) => !words(read(file)).includes(words(title)));
    expect(missing.map(([citation]) => words(citation))).toEqual([]);
  });

  it('a test for each row of SECURITY’s tables, or that there can be none', () => {
    const rows = read('SECURITY.md').match(/^\| .*$/gm) ?? [];
    const isHead = (row: string) => /\| (?:in|shown by|how a client notices|and no more) \|$/.test(row);
    const without = rows.filter((row) => !isHead(row) && !/\.(?:spec|test)\.tsx?`|\bNo test\b/.test(row));
    expect(rows.length).toBeGreaterThan(0);
    expect(without).toEqual([]);
  });

  it('each link of a page, with its heading', () => {
    const link = /\]\((?!https?:|mailto:)([^)\s]+)\)/g;
    const leads = (target: string, page: string) => {
      const [name = '', anchor] = target.split('#');
      const file =
        name === ''
          ? page
          : path.posix.normalize(path.posix.join(path.posix.dirname(page), name)).replace(/\/$/, '');
      if (!existsSync(path.join(root, file))) return false;
      return anchor === undefined || anchors(read(file)).has(anchor);
    };
    expect(dangling(pages, link, leads)).toEqual([]);
  });

  it('each folder of the rooms that the tour lists, and no other', () => {
    const rooms = (room: string) => [...folders].filter((folder) => path.posix.dirname(folder) === room);
    for (const folder of [...rooms('workers'), ...rooms('src')]) {
      expect(architecture).toContain(`\`${folder}\``);
    }
    const named = ['src/services', 'relay/src', 'tests', 'crypto-core/src'].flatMap(rooms);
    for (const folder of named) {
      expect(architecture).toContain(`\`${path.posix.basename(folder)}\``);
    }
    const listed = [...architecture.matchAll(/`((?:src|workers|relay)\/[a-z/]+)\/?`/gi)].map(
      ([, name]) => name,
    );
    expect(listed.filter((folder) => !folders.has(folder ?? ''))).toEqual([]);
  });
});
