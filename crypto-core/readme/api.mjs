// npm run readme -w crypto-core: writes the API into README.md, from the declarations that the build makes.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const doors = {
  '@sinetti/crypto-core': '',
  '@sinetti/crypto-core/account': 'account/',
  '@sinetti/crypto-core/content': 'content/',
  '@sinetti/crypto-core/vectors': 'vectors/',
};
const [BEGIN, END] = ['<!-- The API, written by `npm run readme`. -->\n', '<!-- The end of the API. -->\n'];
const DECLARATION =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:declare )?((?:const|function|interface|type|class) (\w+)[\s\S]*?)\n(?=\/\*\*|export |declare |import |\}?$)/g;

/** Returns the text of a docstring: its sentences, then a line for each tag. */
function proseOf(comment = '') {
  const text = comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join('\n')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .trim();
  const [sentences = '', ...tags] = ` ${text}`.split(/\s(?=@(?:param|returns|throws)\b)/);
  const lines = tags.map(
    (tag) =>
      `- ${tag
        .replace(/^@param (\w+)/, '`$1`:')
        .replace(/^@returns/, 'Returns')
        .replace(/^@throws/, 'Throws')
        .replaceAll(/\s*\n\s*/g, ' ')}`,
  );
  return {
    sentences: sentences.trim(),
    hasErrors: tags.some((tag) => tag.startsWith('@throws')),
    prose: [sentences.trim(), lines.join('\n')].filter((part) => part !== '').join('\n\n'),
  };
}

function declarationsIn(file) {
  const text = readFileSync(file, 'utf8');
  return new Map(
    [...text.matchAll(DECLARATION)].map(([, comment, code, name]) => [name, { comment, code: code.trim() }]),
  );
}

/** Lists what a door exports, with its declaration and docstring, in the order of the door. */
export function exportsOf(folder, door) {
  const index = path.join(folder, door, 'index.d.ts');
  return [
    ...readFileSync(index, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)';$/gm),
  ].flatMap(([, names, file]) => {
    const declarations = declarationsIn(path.join(path.dirname(index), file.replace(/\.ts$/, '.d.ts')));
    const listed = names.split(',').map((each) => each.trim().replace(/^type /, ''));
    return listed.filter(Boolean).map((name) => {
      const found = declarations.get(name);
      if (found === undefined) throw new Error(`${name} is not declared in ${file}`);
      return { name, kind: found.code.split(' ')[0], code: found.code, ...proseOf(found.comment) };
    });
  });
}

/** @param folder with the declarations: the `dist` of a build */
export function apiOf(folder) {
  const sections = Object.entries(doors).map(([name, door]) => {
    const entries = exportsOf(folder, door).map(
      (entry) =>
        `#### ${entry.name}\n\n${entry.prose}${entry.prose === '' ? '' : '\n\n'}\`\`\`ts\n${entry.code}\n\`\`\`\n`,
    );
    return `### ${name}\n\n${entries.join('\n')}`;
  });
  return sections.join('\n');
}

/** Returns README.md with the API of a build in its place. */
export function withApi(readme, folder) {
  const [before, rest = ''] = readme.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n${apiOf(folder)}\n${END}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(root, 'README.md');
  writeFileSync(file, withApi(readFileSync(file, 'utf8'), path.join(root, 'dist')));
}
