import { describe, expect, it } from 'vitest';
import type { Compiled } from '#src/i18n/catalogue.ts';
import english from '#src/i18n/en/index.ts';
import finnish from '#src/i18n/fi/index.ts';

type Namespaces = Record<string, Record<string, Compiled>>;
const en = english as unknown as Namespaces;
const fi = finnish as unknown as Namespaces;

/** Names of the values and of the elements that a text wants. */
function wants(text: Compiled | string): string[] {
  if (typeof text === 'string') return [...text.matchAll(/<(\w+)\/?>/g)].map(([, name]) => `<${name}>`);
  return text.flatMap((part) => {
    if (typeof part === 'string') return wants(part);
    const [name, , options] = part;
    const inside = Object.entries(options ?? {}).flatMap(([key, branch]) =>
      key === 'offset' ? [] : wants(branch as Compiled),
    );
    return [name, ...inside];
  });
}

describe.each(Object.keys(en))('texts of %s', (namespace) => {
  it('are all there in Finnish, and no others', () => {
    expect(Object.keys(fi[namespace]!).sort()).toEqual(Object.keys(en[namespace]!).sort());
  });

  it('stand in alphabetical order, and none is there twice', () => {
    const keys = Object.keys(en[namespace]!);
    expect(keys).toEqual(keys.toSorted());
  });

  it.each(Object.keys(en[namespace]!))('%s ends each element that it begins', (key) => {
    for (const text of [en[namespace]![key]!, fi[namespace]![key]!]) {
      const whole = JSON.stringify(text);
      const begun = [...whole.matchAll(/<(\w+)>/g)].map(([, name]) => name);
      const ended = [...whole.matchAll(/<\/(\w+)>/g)].map(([, name]) => name);
      expect(begun).toEqual(ended);
    }
  });

  it.each(Object.keys(en[namespace]!))('%s wants the same values in both', (key) => {
    const values = (text: Compiled) => [...new Set(wants(text))].sort();
    expect(values(fi[namespace]![key]!)).toEqual(values(en[namespace]![key]!));
  });
});
