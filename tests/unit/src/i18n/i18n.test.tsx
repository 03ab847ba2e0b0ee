import { render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageId } from '#src/i18n/catalogue.ts';
import { activateLocale, applyToDocument, i18n, t } from '#src/i18n/i18n.ts';
import { preferredLocale, pseudoLocale } from '#src/i18n/locales.ts';
import { RichText } from '#src/i18n/RichText.tsx';

const sample = 'test.sample' as MessageId;

function give(text: unknown) {
  i18n.load({ en: { [sample]: text } } as never);
  i18n.activate('en');
}

afterEach(() => activateLocale('en'));

describe('the language', () => {
  it.each([
    { stored: null, languages: ['fi-FI', 'en'], chosen: 'fi' },
    { stored: null, languages: ['sv-SE', 'en-GB'], chosen: 'en' },
    { stored: null, languages: ['sv-SE'], chosen: 'en' },
    { stored: 'en', languages: ['fi'], chosen: 'en' },
    { stored: 'klingon', languages: ['fi'], chosen: 'fi' },
    { stored: pseudoLocale, languages: ['fi'], chosen: pseudoLocale },
  ])('is $chosen for $languages with $stored chosen', ({ stored, languages, chosen }) => {
    expect(preferredLocale(stored, languages)).toBe(chosen);
  });

  it('is set on the page', async () => {
    await activateLocale('fi');
    applyToDocument(document);
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['fi', 'ltr']);
    expect(t('session.logout')).toBe('Kirjaudu ulos');
  });

  it('marks every text in the pseudo locale, which runs from right to left', async () => {
    await activateLocale(pseudoLocale);
    applyToDocument(document);
    expect(t('session.logout')).toBe('⟦Logout⟧');
    expect(document.documentElement.dir).toBe('rtl');
  });
});

describe('values in texts', () => {
  it.each([String.raw`\u202e`, String.raw`\x41`, String.raw`C:\new`, '{name}', '<link>x</link>', '#', "'"])(
    'stay what a person wrote: %s',
    (name) => {
      give(['Hello ', ['name'], '!']);
      expect(t(sample, { name })).toBe(`Hello ${name}!`);
    },
  );

  it('choose the plural', () => {
    give([['count', 'plural', { one: ['# member'.replace('# ', ''), ''], other: ['#', ' members'] }]]);
    expect(t(sample, { count: 12 })).toBe('12 members');
  });
});

describe('a text with elements', () => {
  it('inserts text that a person wrote as text, whatever it looks like', () => {
    give(['Talk to <name/> <link>here</link>']);
    render(
      <p>
        <RichText id={sample} parts={{ name: <b>{'<link>x</link>'}</b>, link: <i /> }} />
      </p>,
    );
    expect(screen.getByText('<link>x</link>').tagName).toBe('B');
    expect(screen.getByText('here').tagName).toBe('I');
  });
});
