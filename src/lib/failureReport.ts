import { version } from '../../package.json';
import { deviceName } from './deviceName.ts';
import { errorCode } from './errorCode.ts';
import { harmless } from './log.ts';

/** Classes of errors that may be named; another's name could be anything. */
const knownNames = [
  'AppError',
  'ApiError',
  'CryptoApiError',
  'NetworkError',
  'ChunkLoadError',
  'DOMException',
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'Error',
];

const placesKept = 6;

/**
 * Returns the facts that help to find a bug, as text that a person may send to anybody: which part of the screen, which kind of error, where
 * in the code, which version and browser. Messages of errors are left out: they can hold what somebody wrote.
 */
export function failureReport(input: { part: string; error: unknown; userAgent: string }): string {
  const { error, part, userAgent } = input;
  const code = errorCode(error);
  const lines = [
    `Version: ${version}`,
    `Browser: ${deviceName(userAgent)}${browserVersion(userAgent)}`,
    `Part: ${part}`,
    `Error: ${errorName(error)}, ${harmless.code.test(code) ? code : 'internal'}`,
    ...placesOf(error).map((place) => `At: ${place}`),
  ];
  return lines.join('\n');
}

function errorName(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  return knownNames.find((known) => known === name) ?? 'unknown';
}

function browserVersion(userAgent: string): string {
  const major = /(?:Edg|OPR|Firefox|Chrome|Version)\/(\d{1,4})/.exec(userAgent)?.[1];
  return major === undefined ? '' : `, ${major}`;
}

/** Script, line and column of the innermost calls. The stack begins with the message, which must not be searched. */
function placesOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.stack === undefined) return [];
  const frames = error.stack.split('\n').filter((line) => /^\s+at |^[\w$.<>/]*@http/.test(line));
  const own = error.message.split('\n');
  return frames
    .filter((line) => !own.includes(line))
    .map((line) => /\/assets\/([\w.]+-[\w-]{8}\.js:\d+:\d+)\)?$/.exec(line)?.[1])
    .filter((place) => place !== undefined)
    .slice(0, placesKept);
}
