import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Failure } from './chain/errors.ts';
import { defaultStateFolder } from './seen.ts';

/** The arguments that both commands take. */
export interface CommonArguments {
  readonly target: string;
  /** The SHA-256 of the chain's first step. */
  readonly root: string;
  readonly stateFolder: string;
  /** The other options, by name. */
  readonly options: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads a command's arguments.
 * @param words the words after the command's name
 * @param names its own options, each with a value
 * @throws Failure `usage`
 */
export function readArguments(words: readonly string[], names: readonly string[]): CommonArguments {
  const known = [...names, 'root', 'state'];
  const { positionals, values } = parsed(words, known);
  const [target, ...others] = positionals;
  if (target === undefined || others.length > 0) throw new Failure('usage', 'Name one relay.');
  const options = values as Readonly<Record<string, string | undefined>>;
  const root = options.root ?? packagedRoot();
  if (root === null) {
    throw new Failure(
      'usage',
      'This copy was made without the root of a chain: name it with --root, from a source that is not the relay.',
    );
  }
  if (!/^[\w-]{43}$/.test(root))
    throw new Failure('usage', 'A root is a SHA-256 in base64url: 43 characters.');
  return { target, root, stateFolder: options.state ?? defaultStateFolder(process.env), options };
}

function parsed(words: readonly string[], names: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    });
  } catch (error) {
    throw new Failure('usage', error instanceof Error ? error.message : String(error));
  }
}

/** The root that this package was published with: whoever installs it from a source that they trust has it from there. */
function packagedRoot(): string | null {
  const file = new URL('../root.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly root: string | null }).root;
}

/**
 * Runs a command, prints why it failed, and sets the code with which the process ends: 1 for what is not the release's, 2 for a
 * command that was not understood.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${printable(`${error.code}: ${error.message}`)}\n`);
    process.exitCode = error.code === 'usage' ? 2 : 1;
  }
}

/** A line without characters that would move the terminal's cursor, or turn its direction: some of it is the relay's. */
export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\n' : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
