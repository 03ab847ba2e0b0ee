import { describe, expect, it } from 'vitest';
import { ariaKeys, shortcutOf } from '#src/features/shortcuts/keys.ts';

/** A key as it is written in the help, such as Alt+Digit1. */
function pressed(text: string) {
  const parts = text.split('+');
  const last = parts.at(-1)!;
  const holds = (name: string) => parts.slice(0, -1).includes(name);
  return {
    key: last.replace('Digit', ''),
    code: last,
    altKey: holds('Alt'),
    ctrlKey: holds('Ctrl'),
    metaKey: holds('Meta'),
    shiftKey: holds('Shift'),
  };
}

const here = { mac: false, writing: false };

describe('a key', () => {
  it.each([
    ['Alt+Digit1', 'messages'],
    ['Alt+Digit2', 'groups'],
    ['Alt+Digit3', 'contacts'],
    ['Alt+Digit4', 'profile'],
    ['Alt+Digit5', null],
    ['Digit1', null],
    ['Ctrl+Digit1', null],
    ['Alt+ArrowUp', 'previous'],
    ['Alt+ArrowDown', 'next'],
    ['ArrowDown', null],
    ['Alt+Shift+ArrowDown', null],
    ['Alt+Numpad1', null],
    ['Ctrl+k', 'search'],
    ['Ctrl+K', 'search'],
    ['Ctrl+Shift+K', null],
    ['Ctrl+Alt+k', null],
    ['Meta+k', null],
    ['k', null],
    ['Ctrl+/', 'help'],
    ['Shift+?', 'help'],
  ])('%s asks for %s', (text, name) => {
    expect(shortcutOf(pressed(text), here)).toBe(name);
  });

  it.each([
    ['Shift+?', null],
    ['Alt+ArrowDown', 'next'],
    ['Ctrl+k', 'search'],
    ['Ctrl+/', 'help'],
  ])('%s asks for %s of somebody who is writing', (text, name) => {
    expect(shortcutOf(pressed(text), { mac: false, writing: true })).toBe(name);
  });

  it.each([
    ['Meta+k', false, 'search'],
    ['Ctrl+k', false, null],
    ['Meta+/', true, 'help'],
    ['Alt+Digit1', false, 'messages'],
    ['Alt+Digit1', true, null],
    ['Alt+ArrowUp', true, null],
  ])('on a Mac %s, writing %s, asks for %s', (text, writing, name) => {
    expect(shortcutOf(pressed(text), { mac: true, writing })).toBe(name);
  });
});

it('a shortcut tells assistive technology the keys of each system', () => {
  expect([ariaKeys('messages', false), ariaKeys('next', false), ariaKeys('search', false)]).toEqual([
    'Alt+1',
    'Alt+ArrowDown',
    'Control+K',
  ]);
  expect(ariaKeys('search', true)).toBe('Meta+K');
});
