import { readFileSync } from 'node:fs';
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
