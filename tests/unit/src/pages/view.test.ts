import { describe, expect, it } from 'vitest';
import { parseViewEntry, type ViewEntry } from '#src/pages/dashboard/view.ts';

const entry = (view: unknown, rest: object = {}) => ({
  ownerId: 'aino-id',
  view,
  closable: 'open',
  ...rest,
});

describe('a view read from the history', () => {
  it.each<ViewEntry['view']>([
    { tab: 'messages', open: null },
    { tab: 'messages', open: 'veikko-id' },
    { tab: 'groups', open: 'group-1', details: true },
    { tab: 'contacts', searching: true },
    { tab: 'profile' },
  ])('comes back as it was written: %j', (view) => {
    expect(parseViewEntry(entry(view), 'aino-id')).toEqual(entry(view));
  });

  it.each([
    null,
    undefined,
    'messages',
    {},
    entry(null),
    entry({ tab: 'admin' }),
    entry({ tab: 'messages', open: null }, { closable: true }),
    entry({ tab: 'messages', open: null }, { ownerId: 'veikko-id' }),
  ])('is none for what nobody of this name wrote: %j', (state) => {
    expect(parseViewEntry(state, 'aino-id')).toBeNull();
  });

  it('keeps nothing of a wrong type', () => {
    expect(parseViewEntry(entry({ tab: 'messages', open: 7 }), 'aino-id')?.view).toEqual({
      tab: 'messages',
      open: null,
    });
    expect(parseViewEntry(entry({ tab: 'groups', open: '', details: true }), 'aino-id')?.view).toEqual({
      tab: 'groups',
      open: null,
      details: false,
    });
  });
});
