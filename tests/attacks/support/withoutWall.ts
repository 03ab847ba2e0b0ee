import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningRelay } from '../../e2e/support/relay.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** A wall as the build has it, and the build without it. */
export interface Wall {
  /** From the repository's root; `*` stands for a hash. */
  readonly file: string;
  readonly text: RegExp;
  /** As for `String.replace`. */
  readonly without: string;
}

/** Runs the built product with its walls down, from a copy. @throws Error when one of them doesn't stand where it is looked for */
export async function startWithout(walls: readonly Wall[]): Promise<RunningRelay> {
  const webDir = await mkdtemp(join(tmpdir(), 'sinetti-without-'));
  // Where the relay's packages are found from.
  await mkdir(join(root, 'relay/node_modules'), { recursive: true });
  const program = await mkdtemp(join(root, 'relay/node_modules/.without-'));
  const remove = async () => {
    for (const folder of [webDir, program]) await rm(folder, { recursive: true, force: true });
  };
  try {
    await cp(join(root, 'dist'), webDir, { recursive: true });
    await cp(join(root, 'relay/dist'), program, { recursive: true });
    for (const { file, text, without } of walls) {
      const place = file.startsWith('relay/dist/')
        ? join(program, file.slice('relay/dist/'.length))
        : join(webDir, file.slice('dist/'.length));
      await edit(await named(place), text, without);
    }
    return await RunningRelay.start({ WEB_DIR: webDir }, { program: join(program, 'src/server.js'), remove });
  } catch (error) {
    await remove();
    throw error;
  }
}

async function edit(file: string, text: RegExp, without: string): Promise<void> {
  const source = await readFile(file, 'utf8');
  if ([...source.matchAll(new RegExp(text, 'g'))].length !== 1)
    throw new Error(`${file} has no one wall of the form ${text}`);
  await writeFile(file, source.replace(text, without));
  // It would be served in its place.
  await rm(`${file}.br`, { force: true });
}

/** The file that a name with a `*` stands for. */
async function named(file: string): Promise<string> {
  if (!file.includes('*')) return file;
  const [before = '', after = ''] = file.split('*');
  const folder = join(before, '..');
  const found = (await readdir(folder))
    .map((name) => join(folder, name))
    .filter((name) => name.startsWith(before) && name.endsWith(after));
  if (found.length !== 1) throw new Error(`${file} stands for ${found.length} files`);
  return found[0]!;
}
