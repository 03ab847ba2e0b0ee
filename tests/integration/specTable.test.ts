/** tests/e2e/SPEC.md says which test shows each sentence of the specification. Here it is held to that. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const table = 'tests/e2e/SPEC.md';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

interface Row {
  readonly section: string;
  readonly id: string;
  readonly sentence: string;
  readonly tests: string;
}

const rows = textOf(table)
  .split('\n## ')
  .slice(1)
  .flatMap((section) =>
    section
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map((line): Row => {
        const [id = '', sentence = '', tests = ''] = line
          .slice(1, -1)
          .split(' | ')
          .map((cell) => cell.trim());
        return { section: section.charAt(0), id, sentence, tests };
      }),
  );

/** A title is a string before a function: of `it`, of `test`, of `it.each` over anything; `describe` names none. */
function titlesIn(file: string): string[] {
  if (!statSync(join(root, file)).isFile()) return [];
  const title = /(?<!describe)\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,\s*(?:\{[^}]*\},\s*)?(?:async\s*)?\(/g;
  return [...textOf(file).matchAll(title)].map(([, , text = '']) => text);
}

function catalogue(): Set<string> {
  const folder = join(root, 'src/i18n/en');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Set(
    files.flatMap((name) =>
      Object.values(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, string>),
    ),
  );
}

const texts = catalogue();

describe('the table of the specification', () => {
  it('has every section, each with rows of the same form', () => {
    expect([...new Set(rows.map(({ section }) => section))]).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ]);
    for (const { id, section } of rows) expect(id).toMatch(new RegExp(`^S${section}\\.[a-z0-9.-]+$`));
    expect(rows.length).toBeGreaterThan(250);
  });

  it('has each id once', () => {
    const ids = rows.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it.each(rows)('$id is shown by tests that there are', ({ tests }) => {
    const named = tests.split('<br>').map((test) => /^`([^`]+)` › (.+)$/.exec(test) ?? [test, '', '']);
    const missing = named.filter(
      ([, file = '', title = '']) => !existsSync(join(root, file)) || !titlesIn(file).includes(title),
    );
    expect(missing.map(([test]) => test)).toEqual([]);
  });

  it.each(rows.filter(({ sentence }) => sentence.includes('`')))(
    '$id quotes the catalogue, or the file it links to, word for word',
    ({ sentence }) => {
      const sources = [...sentence.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) =>
        textOf(join(dirname(table), link)),
      );
      const quoted = [...sentence.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
      const unknown = quoted.filter(
        (text) => !texts.has(text) && !sources.some((source) => source.includes(text)),
      );
      expect(unknown).toEqual([]);
    },
  );
});
