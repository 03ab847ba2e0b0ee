import { describe, expect, it } from 'vitest';
import { displayName } from '#src/store/people.ts';
import { avatarHue, avatarInitial } from '#src/ui/Avatar.tsx';

describe('avatarHue', () => {
  it('is the same for the same name and spreads different ones', () => {
    const hues = Array.from({ length: 60 }, (_, index) => avatarHue(`person ${index}`));
    expect(avatarHue('aino')).toBe(avatarHue('aino'));
    expect(new Set(hues).size).toBeGreaterThan(45);
    expect(hues.every((hue) => Number.isInteger(hue) && hue >= 0 && hue < 360)).toBe(true);
  });
});

describe('avatarInitial', () => {
  it.each([
    ['aino', 'A'],
    ['äijä', 'Ä'],
    ['  -veikko', 'V'],
    ['😀 smile', '😀'],
    ['...', '?'],
    ['', '?'],
  ])('of %j is %j', (name, initial) => {
    expect(avatarInitial(name)).toBe(initial);
  });
});

describe('displayName', () => {
  it.each([
    [{ username: 'aino', email: 'a@example.fi' }, 'aino'],
    [{ username: ' ', email: 'veikko@example.fi' }, 'veikko'],
    [{ username: '', email: '' }, 'User'],
    [{ username: '' }, 'User'],
  ])('of %j is %j', (person, name) => {
    expect(displayName(person)).toBe(name);
  });

  it('drops characters that reverse or hide text', () => {
    expect(displayName({ username: '\u202Eonia\u202C\u200B' })).toBe('onia');
    expect(displayName({ username: '\u200B\u2060', email: 'kaisa@example.fi' })).toBe('kaisa');
  });
});
