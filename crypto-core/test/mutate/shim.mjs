// Stands in the place of vitest when tests are run thousands of times over: collects them, and asserts what they assert.
import { isDeepStrictEqual } from 'node:util';

/** @type {{ suites: string[]; tests: { title: string; body: () => unknown }[]; before: (() => unknown)[] }} */
const collected = { suites: [], tests: [], before: [] };

export function takeTests() {
  const { tests, before } = collected;
  collected.tests = [];
  collected.before = [];
  return { tests, before };
}

export function describe(name, body) {
  collected.suites.push(name);
  body();
  collected.suites.pop();
}

export function it(name, body) {
  collected.tests.push({ title: [...collected.suites, name].join(' > '), body });
}

describe.each = (rows) => (name, body) => {
  for (const row of rows) describe(titleOf(name, row), () => body(...argumentsOf(row)));
};

it.each = (rows) => (name, body) => {
  for (const row of rows) it(titleOf(name, row), () => body(...argumentsOf(row)));
};

export const beforeAll = (hook) => collected.before.push(hook);
export const afterAll = () => undefined;

const argumentsOf = (row) => (Array.isArray(row) ? row : [row]);

function titleOf(name, row) {
  let at = 0;
  return name
    .replaceAll(/%[sio]/g, () => String(argumentsOf(row)[at++]))
    .replaceAll(/\$(\w+)/g, (_, field) => String(row?.[field]));
}

const PATTERN = Symbol('pattern');

function equal(actual, expected) {
  if (expected?.[PATTERN] !== undefined) return expected[PATTERN](actual);
  if (ArrayBuffer.isView(actual) && ArrayBuffer.isView(expected)) {
    return actual.length === expected.length && actual.every((octet, at) => octet === expected[at]);
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.length === expected.length && actual.every((item, at) => equal(item, expected[at]));
  }
  if (isPlain(actual) && isPlain(expected)) {
    const keys = new Set([...Object.keys(actual), ...Object.keys(expected)]);
    return [...keys].every((key) => equal(actual[key], expected[key]));
  }
  return isDeepStrictEqual(actual, expected);
}

function isPlain(value) {
  return typeof value === 'object' && value !== null && !(value instanceof Map) && !(value instanceof Set);
}

function contains(actual, expected) {
  if (actual instanceof Set) return actual.has(expected);
  return typeof actual === 'string' ? actual.includes(expected) : [...actual].includes(expected);
}

function throws(call, expected) {
  try {
    call();
  } catch (error) {
    if (expected === undefined) return true;
    if (typeof expected === 'string') return error.message.includes(expected);
    if (expected instanceof RegExp) return expected.test(error.message);
    return typeof expected === 'function' ? error instanceof expected : equal({ ...error }, { ...expected });
  }
  return false;
}

const matchers = {
  toBe: (actual, expected) => Object.is(actual, expected),
  toEqual: equal,
  toContain: contains,
  toBeNull: (actual) => actual === null,
  toBeGreaterThan: (actual, expected) => actual > expected,
  toBeGreaterThanOrEqual: (actual, expected) => actual >= expected,
  toBeLessThan: (actual, expected) => actual < expected,
  toHaveLength: (actual, expected) => actual.length === expected,
  toMatch: (actual, expected) =>
    typeof expected === 'string' ? actual.includes(expected) : expected.test(actual),
  toMatchObject: (actual, expected) =>
    Object.keys(expected).every((key) => equal(actual[key], expected[key])),
  toMatchInlineSnapshot: (actual, expected) => `"${actual}"` === expected,
  toThrow: throws,
};

export function expect(actual) {
  const assertions = (isNot) =>
    Object.fromEntries(
      Object.entries(matchers).map(([name, matches]) => [
        name,
        (expected) => {
          if (matches(actual, expected) === isNot) throw new Error(`expected ${isNot ? 'not ' : ''}${name}`);
        },
      ]),
    );
  return { ...assertions(false), not: assertions(true) };
}

expect.stringContaining = (part) => ({
  [PATTERN]: (actual) => typeof actual === 'string' && actual.includes(part),
});
expect.stringMatching = (pattern) => ({
  [PATTERN]: (actual) => typeof actual === 'string' && pattern.test(actual),
});
expect.arrayContaining = (items) => ({
  [PATTERN]: (actual) => items.every((item) => actual.some((other) => equal(other, item))),
});
