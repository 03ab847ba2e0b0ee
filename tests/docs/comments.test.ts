import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles, root } from '../support/projectFiles.ts';

const code = projectFiles().filter((file) => /\.(?:tsx?|m[jt]s|css)$/.test(file));
const linesOf = (file: string) => readFileSync(path.join(root, file), 'utf8').split('\n');

/** Words by which a comment makes its reader look for the sentence that it belongs to. */
const riddle = /^(?:What(?:ever)?|Who(?:ever|m|se)?|Whether|Those|Of)\b/;
const marker = /^\s*(\/\/|\/\*\*?|\{\/\*|\*(?!\/))\s?(.*)$/;

/** Returns the first line of each comment that stands on lines of its own, by its line number. */
function openings(lines: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  // A mark of its own line leaves the first words to the next one.
  let continues = false;
  for (const [i, line] of lines.entries()) {
    const [, mark = '', text = ''] = marker.exec(line) ?? [];
    if (mark !== '' && !continues && mark !== '*' && text !== '') found.set(i + 1, text);
    if (mark === '*' && /^\s*\/\*\*?$/.test(lines[i - 1] ?? '')) found.set(i + 1, text);
    continues = mark === '//';
  }
  return found;
}

it('no comment opens on a word that makes its reader solve a riddle', () => {
  const riddles = code.flatMap((file) =>
    [...openings(linesOf(file))]
      .filter(([, text]) => riddle.test(text))
      .map(([line, text]) => `${file}:${line}: ${text}`),
  );
  expect(riddles).toEqual([]);
});

it('the openings of comments are found in every form that they have', () => {
  const lines = [
    '/** One. */',
    '/**',
    ' * Two',
    ' * more',
    ' */',
    '// Three',
    '// more',
    'x();',
    '  {/* Four */}',
  ];
  expect([...openings(lines).values()]).toEqual(['One. */', 'Two', 'Three', 'Four */}']);
});

it('no file has more than 400 lines', () => {
  const long = code.filter((file) => linesOf(file).length > 401);
  expect(long).toEqual([]);
});
