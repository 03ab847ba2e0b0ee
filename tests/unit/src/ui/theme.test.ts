import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyTheme } from '#src/ui/theme.ts';

const bars = ['light', 'dark'].map((scheme) => {
  const bar = document.createElement('meta');
  bar.name = 'theme-color';
  bar.media = `(prefers-color-scheme: ${scheme})`;
  return bar;
});

beforeEach(() => document.head.append(...bars));
afterEach(() => document.head.replaceChildren());

it('sets the theme of the page and of the browser’s bar, and leaves both to the system again', () => {
  const shown = () => [document.documentElement.dataset.theme, ...bars.map(({ media }) => media)];
  applyTheme('dark', document);
  expect(shown()).toEqual(['dark', 'not all', 'all']);
  applyTheme('light', document);
  expect(shown()).toEqual(['light', 'all', 'not all']);
  applyTheme('system', document);
  expect(shown()).toEqual([undefined, '(prefers-color-scheme: light)', '(prefers-color-scheme: dark)']);
});
