// The tables of SPEC.md, for the tests that hold them and the tools that follow them.
import { readFileSync } from 'node:fs';

const spec = new URL('../SPEC.md', import.meta.url);

export function specText() {
  return readFileSync(spec, 'utf8');
}

/** Returns the cells of the rows of all tables below a heading, without their headers. */
export function rowsUnder(heading) {
  const section = specText().split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n');
  return lines
    .filter((line, at) => line.startsWith('|') && !isRule(line) && !isRule(lines[at + 1] ?? ''))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Says whether a line parts a table's header from its rows. */
function isRule(line) {
  return /^\|(-+\|)+$/.test(line);
}

/** Returns the checks that SPEC.md lists, with the file that makes each and the test that misses it. */
export function listedChecks() {
  return rowsUnder('Checks').map(([section = '', id = '', , file = '', test = '']) => ({
    section,
    id,
    file,
    test,
  }));
}
