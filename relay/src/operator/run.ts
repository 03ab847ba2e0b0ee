import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { openBeside } from '../db/beside.ts';
import { StartupError } from '../errors.ts';
import { OperatorHub } from '../realtime/operatorNews.ts';
import { insertNews } from '../repositories/operatorNews.ts';
import { check } from './check.ts';
import { type Command, type Given, type Outcome, Refusal, UsageError } from './command.ts';
import { convert } from './convert.ts';
import { loadEnvironment } from './environment.ts';
import { commonOptions, helpOf, overview } from './help.ts';
import { people } from './people.ts';
import { reports } from './reports.ts';
import { signUp } from './signUp.ts';
import { printableJson } from './text.ts';
import { usage } from './usage.ts';
import { version } from './version.ts';

const commands: readonly Command[] = [...people, ...signUp, ...reports, usage, check, convert, version];

export interface Io {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/**
 * Runs one command of `sinetti-relay`.
 * @param words the command line after the program's name
 * @returns the exit status: 0 done, 1 not done, 2 wrong words
 */
export async function runCommand(words: readonly string[], io: Io): Promise<number> {
  const { out, err } = io;
  try {
    if (words.length === 0) {
      err(`${overview(commands)}\n`);
      return 2;
    }
    if (['help', '--help', '-h'].includes(words[0] ?? '')) {
      out(`${overview(commands)}\n`);
      return 0;
    }
    const command = commandIn(words);
    const given = givenTo(command, words.slice(command.name.split(' ').length));
    if (given.options.help === true) {
      out(`${helpOf(command)}\n`);
      return 0;
    }
    requireWords(command, given);
    const outcome = await perform(command, given, io);
    out(given.options.json === true ? `${printableJson(outcome.json)}\n` : `${outcome.text}\n`);
    return outcome.hasFailed === true ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${error.message} sinetti-relay --help says what there is.\n`);
      return 2;
    }
    if (!(error instanceof Refusal || error instanceof StartupError)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

/** @throws UsageError */
function commandIn(words: readonly string[]): Command {
  const found = commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
  if (found !== undefined) return found;
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  throw new UsageError(`There is no command ${named.join(' ')}.`);
}

/** @throws UsageError for an option that there isn't, or a missing value */
function givenTo(command: Command, args: readonly string[]): Given {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...command.options, ...commonOptions },
      allowPositionals: true,
    });
    return { words: positionals, options: values };
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message.split('. ')[0] : 'The options are wrong'}.`,
    );
  }
}

/** @throws UsageError */
function requireWords({ name, words: named = [] }: Command, { words }: Given): void {
  const missing = named.find((word, index) => !word.startsWith('[') && words[index] === undefined);
  if (missing !== undefined) throw new UsageError(`${name} takes a ${missing}.`);
  if (words.length > named.length) throw new UsageError(`${name} takes no more than ${named.length} words.`);
}

async function perform(
  command: Command,
  given: Given,
  { environment, clock = Date.now }: Io,
): Promise<Outcome> {
  const file = given.options.settings;
  const settings = typeof file === 'string' ? { ...environment, ...loadEnvironment(file) } : environment;
  if ('runAlone' in command) return command.runAlone(settings, given);
  const config = readConfig(settings);
  const database = await openBeside(config);
  const hub = new OperatorHub();
  const { db } = database;
  try {
    return await command.run({ config, database, db, hub, clock }, given);
  } finally {
    // A command that failed may have done something before.
    await insertNews(db, hub.news, clock());
    await database.close();
  }
}
