import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const css = readFileSync('src/ui/tokens.css', 'utf8');

type Scheme = 'light' | 'dark';

function colour(name: string, scheme: Scheme): string {
  const match = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(css);
  const value = scheme === 'light' ? match?.[1] : match?.[2];
  if (value === undefined) throw new Error(`no colour ${name}`);
  return value;
}

/** WCAG 2.2, relative luminance. */
function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

const grounds = ['ground', 'surface', 'raised', 'sunken', 'hover', 'accent-soft'];

describe.each(['light', 'dark'] as const)('the %s colours', (scheme) => {
  it.each([
    ...grounds.flatMap((ground) => [
      ['text', ground],
      ['text-muted', ground],
    ]),
    ['accent-text', 'ground'],
    ['accent-text', 'surface'],
    ['text-on-accent', 'accent'],
    ['text-on-accent', 'accent-hover'],
    ['surface', 'danger'],
    ['surface', 'danger-hover'],
    ['danger', 'ground'],
    ['danger', 'surface'],
    ['danger', 'raised'],
    ['danger', 'danger-soft'],
    ['warning', 'warning-soft'],
    ['success', 'success-soft'],
    ['text', 'danger-soft'],
    ['text', 'warning-soft'],
    ['text', 'success-soft'],
  ])('%s can be read on %s', (text, ground) => {
    expect(contrast(colour(text, scheme), colour(ground, scheme))).toBeGreaterThanOrEqual(4.5);
  });

  it.each([
    ['line-strong', 'ground'],
    ['line-strong', 'surface'],
    ['accent', 'ground'],
    ['accent', 'surface'],
    ['online', 'surface'],
    ['offline', 'surface'],
  ])('%s can be seen on %s', (mark, ground) => {
    expect(contrast(colour(mark, scheme), colour(ground, scheme))).toBeGreaterThanOrEqual(3);
  });
});

const sheets = ['app', 'features', 'pages', 'ui']
  .flatMap((room) =>
    readdirSync(join('src', room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  )
  .filter((file) => file.endsWith('.css') && file !== join('ui', 'tokens.css'));

/** A sheet without its comments. */
function textOf(sheet: string): string {
  return readFileSync(join('src', sheet), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
}

/** Values of the declarations of a sheet, without its selectors and media queries. */
function values(sheet: string): string[] {
  return [...textOf(sheet).matchAll(/[\w-]+:\s*([^;{}]*);/g)].map(([, value = '']) => value);
}

/** Numbers, shares of the box (%, fr), turns, and lengths that follow the window (vw, dvh) or the text (ch, lh). */
const rawUnits = ['', '%', 'fr', 'turn', 'vw', 'dvh', 'ch', 'lh'];
const hairlines = ['1px', '-1px'];

/** Lengths and durations that a value writes itself. */
function rawSizes(value: string): string[] {
  return [...value.matchAll(/(?<![\w#-])(-?[\d.]*\d)([a-z%]*)/g)]
    .filter(([, number, unit = '']) => Number(number) !== 0 && !rawUnits.includes(unit))
    .map(([size]) => size)
    .filter((size) => !hairlines.includes(size));
}

function rawColours(value: string): string[] {
  return [...value.matchAll(/#[\da-f]{3,8}\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\(\s*[\d.]/gi)].map(
    ([colour]) => colour,
  );
}

/** Set by scripts and by the library of popups, where they apply. */
const setElsewhere = [
  '--anchor-width',
  '--available-height',
  '--available-width',
  '--avatar-hue',
  '--avatar-size',
  '--transform-origin',
  '--visible-top',
];

describe('a size or colour written beside the tokens', () => {
  it.each([
    ['calc(var(--space-1) + 2px)', ['2px']],
    ['-0.01em', ['-0.01em']],
    ['.5rem 1px', ['.5rem']],
    ['appear 300ms both', ['300ms']],
    ['clamp(0rem, 6vw, 100%) minmax(0, 1fr)', []],
  ])('is found in %s', (value, sizes) => {
    expect(rawSizes(value)).toEqual(sizes);
  });

  it('is found in colours of every notation', () => {
    expect(rawColours('light-dark(#fff, oklch(91% 0.05 var(--avatar-hue)))')).toHaveLength(2);
    expect(rawColours('oklch(var(--avatar-text-dark) var(--avatar-hue))')).toEqual([]);
  });
});

it('the test of the tokens finds the sheets beside components', () => {
  expect(sheets).toContain(join('ui', 'Button.module.css'));
});

describe.each(sheets)('%s', (sheet) => {
  it('takes sizes, durations and colours from the tokens', () => {
    const found = values(sheet).flatMap((value) => [...rawSizes(value), ...rawColours(value)]);
    expect(found).toEqual([]);
  });

  it('writes its media queries without tokens, which they cannot read', () => {
    expect(textOf(sheet).match(/@[\w-]+[^{;]*var\([^{;]*/g)).toBeNull();
  });

  it('names tokens that exist', () => {
    const named = values(sheet).flatMap((value) => value.match(/(?<=var\()--[\w-]+/g) ?? []);
    expect(named.filter((name) => !setElsewhere.includes(name) && !css.includes(`  ${name}: `))).toEqual([]);
  });
});
