import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Random } from '../random.ts';

type Schema = z.core.JSONSchema.BaseSchema;

/** A value that a schema of the contract takes. @throws Error if none is found: then this file has to learn something */
export function sampleOf(schema: z.ZodMiniType): unknown {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const sample = build(root, root.$defs ?? {});
  const parsed = schema.safeParse(sample);
  if (!parsed.success) throw new Error(`${JSON.stringify(sample)} is no sample: ${parsed.error.message}`);
  return sample;
}

function build(schema: Schema, definitions: Readonly<Record<string, Schema>>): unknown {
  if (schema.$ref !== undefined)
    return build(definitions[schema.$ref.replace('#/$defs/', '')] ?? {}, definitions);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0];
  if (choice !== undefined) return build(choice, definitions);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, part]) => [
          name,
          build(part as Schema, definitions),
        ]),
      );
    case 'array':
      return [build((schema.items ?? {}) as Schema, definitions)];
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
    case undefined:
      break;
  }
  return text(schema);
}

function text({ format, pattern, minLength = 1, allOf }: Schema): string {
  const patterns = [pattern, ...(allOf ?? []).map((part) => part.pattern)].map(
    (source) => new RegExp(source ?? '', 'u'),
  );
  const candidates = [
    ...(format === 'email' ? [`${randomUUID()}@example.org`] : []),
    ...(format === 'date-time' ? ['2026-03-01T12:00:00.000Z'] : []),
    ...(format === 'uuid' ? [randomUUID()] : []),
    'A'.repeat(minLength),
    randomUUID(),
    `group:${randomUUID()}`,
    '12345678',
  ];
  const found = candidates.find((candidate) => patterns.every((one) => one.test(candidate)));
  if (found === undefined) throw new Error(`no candidate for ${format ?? ''} ${pattern ?? ''}`);
  return found;
}

const deep = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;

/** Values that nobody should send. */
const hostile: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => -1,
  () => 0.5,
  () => 2 ** 53,
  () => -1e308,
  () => '',
  () => ' ',
  () => '\0',
  () => '\ud800',
  () => '\u202e',
  () => "' or 1=1; drop table users; --",
  () => 'A'.repeat(5000),
  () => '=',
  () => '../../etc/passwd',
  () => [],
  () => Array<number>(2000).fill(7),
  () => deep(500),
  () => ({}),
  () => ({ toString: 1, length: -1, valueOf: null }),
  () =>
    JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as unknown,
];

/** The value with one thing in it changed, wherever that is. */
export function mutate(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return random.pick(hostile)();
  if (Array.isArray(value)) {
    if (value.length === 0 || random.below(4) === 0) return [...(value as unknown[]), random.pick(hostile)()];
    return value.map((item: unknown, index) => (index === 0 ? mutate(random, item) : item));
  }
  const entries = Object.entries(value);
  const chosen = random.below(entries.length);
  if (random.below(4) === 0) return Object.fromEntries(entries.filter((_entry, index) => index !== chosen));
  return Object.fromEntries(
    entries.map(([name, part], index) => [name, index === chosen ? mutate(random, part) : part]),
  );
}

/** A JSON text broken as text. */
export function breakText(random: Random, text: string): string {
  const at = random.below(text.length);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text}${text}`;
    case 2:
      return `${text.slice(0, at)}\u0000${text.slice(at)}`;
    case 3:
      return `\ufeff${text.replaceAll('"', "'")}`;
    default:
      return '['.repeat(20_000);
  }
}
