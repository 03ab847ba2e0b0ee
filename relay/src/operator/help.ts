import type { Command, CommandOption } from './command.ts';

export const commonOptions = {
  settings: {
    type: 'string',
    value: 'FILE',
    help: 'read the settings of the relay from this file, - for the standard input, over those of the environment, as systemd does',
  },
  json: { type: 'boolean', help: 'answer as JSON, times in UTC by RFC 3339' },
  help: { type: 'boolean', short: 'h', help: 'say what the command does' },
} as const satisfies Readonly<Record<string, CommandOption>>;

const usageOf = ({ name, words = [] }: Command) => ['sinetti-relay', name, ...words].join(' ');

function optionLines(options: Readonly<Record<string, CommandOption>>): string[] {
  const named = Object.entries(options).map(([name, option]) => [
    `--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
    option.help,
  ]);
  const width = Math.max(...named.map(([name = '']) => name.length));
  return named.map(([name = '', help = '']) => `  ${name.padEnd(width)}  ${help}`);
}

export function helpOf(command: Command): string {
  return [
    `Usage: ${usageOf(command)} [OPTIONS]`,
    '',
    `${command.summary}.`,
    '',
    'Options:',
    ...optionLines({ ...command.options, ...commonOptions }),
  ].join('\n');
}

export function overview(commands: readonly Command[]): string {
  const usages = commands.map((command) => [usageOf(command), command.summary] as const);
  return [
    'The operator’s hand on a Sinetti relay: it works on the database, beside a relay that runs or without one.',
    '',
    ...usages.flatMap(([usage, summary]) => [`  ${usage}`, `      ${summary}`]),
    '',
    'Options of all of them:',
    ...optionLines(commonOptions),
    '',
    'The settings are those of the relay: DATA_DIR, DATABASE_URL and so on. It reads and shows no message: the relay has none that',
    'anybody could read. Exit status: 0 if done, 1 if it can’t be done or the check has failed, 2 if the words are wrong.',
  ].join('\n');
}
