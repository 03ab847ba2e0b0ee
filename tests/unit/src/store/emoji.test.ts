import { describe, expect, it } from 'vitest';
import {
  chooseSkinToneAtom,
  emojiMemoryAtom,
  loadEmojiMemoryAtom,
  rememberEmojiAtom,
} from '#src/store/emoji.ts';
import { resetSessionAtomsAtom } from '#src/store/sessionAtom.ts';
import { createWorld } from '../support/app.tsx';

/** A session whose notes are kept, as the worker keeps them sealed. */
function withNotes(first: string | null = null) {
  const notes = new Map<string, string | null>([['emoji', first]]);
  const { store, actions } = createWorld();
  actions.readLocal.mockImplementation(async (name) => notes.get(name) ?? null);
  actions.writeLocal.mockImplementation(async (name, text) => void notes.set(name, text));
  return { notes, store, actions, remembered: () => store.get(emojiMemoryAtom) };
}

describe('what the emoji picker remembers', () => {
  it('is there again, the newest first and each once', async () => {
    const { notes, store } = withNotes();
    for (const emoji of ['🔥', '🐧', '🔥']) await store.set(rememberEmojiAtom, emoji);
    await store.set(chooseSkinToneAtom, 3);
    const next = withNotes(notes.get('emoji'));
    await next.store.set(loadEmojiMemoryAtom);
    expect(next.remembered()).toEqual({ recent: ['🔥', '🐧'], tone: 3 });
  });

  it('is two rows at most', async () => {
    const { store, remembered } = withNotes();
    for (let each = 0; each < 20; each += 1) await store.set(rememberEmojiAtom, `emoji ${each}`);
    expect(remembered().recent).toHaveLength(16);
    expect(remembered().recent[0]).toBe('emoji 19');
  });

  it('keeps what another tab has added meanwhile', async () => {
    const { notes, store } = withNotes();
    notes.set('emoji', JSON.stringify({ recent: ['🐧'], tone: 2 }));
    await store.set(rememberEmojiAtom, '🔥');
    expect(JSON.parse(notes.get('emoji')!)).toEqual({ recent: ['🔥', '🐧'], tone: 2 });
  });

  it.each([null, 'not json', '[]', '{"recent":"🔥","tone":9}', '{"recent":["",7],"tone":"dark"}'])(
    'begins anew from %j',
    async (note) => {
      const { store, remembered } = withNotes(note);
      await store.set(loadEmojiMemoryAtom);
      expect(remembered()).toEqual({ recent: [], tone: 0 });
    },
  );

  it('works for this session in a browser that keeps nothing', async () => {
    const { actions, store, remembered } = withNotes();
    actions.readLocal.mockRejectedValue(new Error('locked'));
    await store.set(loadEmojiMemoryAtom);
    await store.set(rememberEmojiAtom, '🔥');
    expect(remembered().recent).toEqual(['🔥']);
  });

  it('is no business of who signs in next', async () => {
    const { store, remembered } = withNotes();
    await store.set(rememberEmojiAtom, '🔥');
    store.set(resetSessionAtomsAtom);
    expect(remembered().recent).toEqual([]);
  });
});
