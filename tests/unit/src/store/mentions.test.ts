import { createStore } from 'jotai';
import { describe, expect, it } from 'vitest';
import { mentionsMeAtom } from '#src/store/mentions.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { aino } from '../support/app.tsx';

const link = `[@aino](sinetti:user/${aino.id})`;

async function isMentioned(text: string, isMarkdown = true): Promise<boolean> {
  const store = createStore();
  store.set(currentUserAtom, aino);
  const content = { kind: 'text', text, ...(isMarkdown ? { isMarkdown: true as const } : {}) } as const;
  return store.get(mentionsMeAtom)(content);
}

describe('a mention of oneself', () => {
  it.each([
    ['by itself', link],
    ['in a list, a quote and bold', `> - **${link}**`],
    ['with a title', `[@aino](sinetti:user/${aino.id} "Aino")`],
  ])('counts %s', async (_where, text) => {
    expect(await isMentioned(text)).toBe(true);
  });

  it.each([
    ['within code', `Write \`${link}\``],
    ['within a block of code', `\`\`\`\n${link}\n\`\`\``],
    ['escaped', `\\${link}`],
    ['of somebody whose id begins like this one', `[@x](sinetti:user/${aino.id}x)`],
    ['in a text that is too long to be formatted', `${link}${' x'.repeat(16 * 1024)}`],
  ])('does not count %s', async (_where, text) => {
    expect(await isMentioned(text)).toBe(false);
  });

  it('does not count in a text without a format', async () => {
    expect(await isMentioned(link, false)).toBe(false);
  });
});
