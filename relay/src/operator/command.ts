import type { OperatorDependencies } from '../accounts/suspension.ts';
import type { Config } from '../config.ts';
import type { DatabaseBeside } from '../db/beside.ts';

/** The things that a command works with. */
export interface Context extends OperatorDependencies {
  readonly config: Config;
  readonly database: DatabaseBeside;
}

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface Given {
  /** The words after the command's name, as many as it takes. */
  readonly words: readonly string[];
  readonly options: OptionValues;
}

/** The outcome of a command, for a program and for a person. */
export interface Outcome {
  readonly json: unknown;
  /** Lines without the last line's end. */
  readonly text: string;
  /** True if the command has found something that is to be mended. */
  readonly hasFailed?: true;
}

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly help: string;
  /** The name of its value in the help. */
  readonly value?: string;
}

interface CommandHelp {
  /** E.g. `people list`. */
  readonly name: string;
  /** The names of the words that it takes, in brackets those that may be left out. */
  readonly words?: readonly string[];
  readonly summary: string;
  readonly options?: Readonly<Record<string, CommandOption>>;
}

export type Command = CommandHelp &
  (
    | { readonly run: (context: Context, given: Given) => Promise<Outcome> }
    /** Needs no database, or opens it by itself. */
    | {
        readonly runAlone: (
          environment: Readonly<Record<string, string | undefined>>,
          given: Given,
        ) => Promise<Outcome>;
      }
  );

/** The command can't be done as it was asked for: said in one sentence, with the exit status 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The words of the command line are wrong: said with where to find help, with the exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError unless an option's value is a whole number from `min` to `max` */
export function numberOption(
  { options }: Given,
  name: string,
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = options[name];
  if (typeof text !== 'string') return otherwise;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`);
}
