import { act, fireEvent, screen, within } from '@testing-library/react';
import { atom, useAtomValue } from 'jotai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MessageList } from '#src/features/conversation/MessageList.tsx';
import type { MessageView, ReadingPlace } from '#src/store/chats.ts';
import { aino, createWorld, message, veikko } from '../support/app.tsx';
import { rowHeight, viewHeight } from '../support/layout.ts';

interface ChatOptions {
  hasOlder?: boolean;
  readSeq?: number;
  unread?: number;
  place?: ReadingPlace | null;
}

const noMessages: readonly MessageView[] = [];
const noStars: ReadonlySet<string> = new Set();

/** Messages of Veikko, one a minute. */
function from(count: number, first = 1): MessageView[] {
  return Array.from({ length: count }, (_, index) => at(first + index));
}

function at(seq: number, rest: Partial<MessageView> = {}): MessageView {
  const timestamp = new Date(Date.UTC(2026, 5, 1, 0, seq)).toISOString();
  return { ...message(veikko.id, `Message ${seq}`), messageId: `m${seq}`, seq, timestamp, ...rest };
}

function showChat(messages: readonly MessageView[], options: ChatOptions = {}) {
  const shownAtom = atom({ messages, hasOlder: options.hasOlder ?? false });
  const loadOlder = vi.fn<() => Promise<boolean>>(() => new Promise(() => undefined));
  const onLeave = vi.fn<(place: ReadingPlace | null) => void>();
  const onOriginalMissing = vi.fn<() => void>();
  const ignore = () => undefined;
  const changes = {
    reply: ignore,
    edit: ignore,
    react: ignore,
    star: ignore,
    deleteForEveryone: ignore,
    deleteHere: ignore,
    pin: ignore,
    versions: async () => [],
  };
  function Chat() {
    const shown = useAtomValue(shownAtom);
    return (
      <MessageList
        label="Messages with veikko"
        {...shown}
        pinned={noMessages}
        isPinnedFull={false}
        ownId={aino.id}
        nameOf={() => 'veikko'}
        receiptOf={() => null}
        readSeq={options.readSeq}
        unread={options.unread ?? 0}
        loading={false}
        onLoadOlder={loadOlder}
        onRetry={ignore}
        onDiscard={ignore}
        onCopy={ignore}
        changes={changes}
        composer={{ current: null }}
        onOriginalMissing={onOriginalMissing}
        starred={noStars}
        sought={null}
        onSought={ignore}
        place={options.place ?? null}
        onLeave={onLeave}
        beginning={<p>The beginning</p>}
        empty={null}
      />
    );
  }
  const world = createWorld();
  const openAtom = atom(true);
  function Door() {
    return useAtomValue(openAtom) ? <Chat /> : null;
  }
  const user = world.show(<Door />);
  const set = (change: (messages: readonly MessageView[]) => readonly MessageView[], hasOlder = false) =>
    act(() => world.store.set(shownAtom, (before) => ({ messages: change(before.messages), hasOlder })));
  return {
    loadOlder,
    onLeave,
    onOriginalMissing,
    user,
    set,
    close: () => act(() => world.store.set(openAtom, false)),
  };
}

const scroller = () => screen.getByRole('region', { name: 'Messages with veikko' });
const fromEnd = () => scroller().scrollHeight - scroller().scrollTop - viewHeight;
const scrollTo = (top: number) =>
  act(() => {
    scroller().scrollTo({ top });
  });
const jump = () => screen.queryByRole('button', { name: /new messages?$|^Go to the newest message$/ });
/** Texts of what is drawn. */
const drawn = () =>
  within(scroller())
    .getAllByText(/^Message -?\d+$/)
    .map(({ textContent }) => textContent);
/** Pixels of a message below the upper edge. */
function placeOf(text: string): number {
  const [, top] =
    /translateY\((.*)px\)/.exec(screen.getByText(text).closest('li')?.style.transform ?? '') ?? [];
  return Number(top) - scroller().scrollTop;
}

describe('a conversation of 50,000 messages', () => {
  it('opens at its end, and draws few more rows than those in sight', () => {
    showChat(from(50_000));
    expect(fromEnd()).toBe(0);
    expect(drawn().at(-1)).toBe('Message 50000');
    expect(drawn().length).toBeLessThan(2 * (viewHeight / rowHeight));
    expect(screen.getByText('Message 50000').closest('li')).toHaveAttribute('aria-posinset', '50000');
    expect(screen.getByText('Message 50000').closest('li')).toHaveAttribute('aria-setsize', '50000');
  });

  it('shows any other part when scrolled there, the beginning above all', () => {
    showChat(from(50_000));
    scrollTo(scroller().scrollHeight / 2);
    expect(drawn().length).toBeGreaterThan(viewHeight / rowHeight - 1);
    scrollTo(0);
    expect(screen.getByText('The beginning')).toBeVisible();
    expect(drawn()[0]).toBe('Message 1');
  });
});

describe('the place in a chat', () => {
  it('follows the newest message at the end', () => {
    const { set } = showChat(from(40));
    set((messages) => [...messages, at(41)]);
    expect(fromEnd()).toBe(0);
    expect(screen.getByText('Message 41')).toBeVisible();
    expect(jump()).toBeNull();
  });

  it('stays for a reader who scrolled up, with a count of new messages and a way to them', () => {
    const { set } = showChat(from(100));
    scrollTo(2000);
    const top = scroller().scrollTop;
    expect(jump()).toHaveAccessibleName('Go to the newest message');
    set((messages) => [...messages, at(101)]);
    expect(jump()).toHaveAccessibleName('1 new message');
    set((messages) => [...messages, at(102), at(103, { senderId: aino.id, status: 'sent' }), at(104)]);
    expect(scroller().scrollTop).toBe(top);
    expect(jump()).toHaveAccessibleName('3 new messages');
    fireEvent.click(jump() as HTMLElement);
    expect(fromEnd()).toBe(0);
    expect(jump()).toBeNull();
  });

  it('moves to the end for an own message', () => {
    const { set } = showChat(from(100));
    scrollTo(2000);
    set((messages) => [...messages, at(101, { senderId: aino.id, seq: null, status: 'sending' })]);
    expect(fromEnd()).toBe(0);
  });

  it('does not move when older messages come above, which are loaded once near the top', () => {
    const { loadOlder, set } = showChat(from(100, 101), { hasOlder: true });
    scrollTo(2500);
    expect(loadOlder).not.toHaveBeenCalled();
    scrollTo(400);
    expect(loadOlder).toHaveBeenCalledOnce();
    expect(scroller()).toHaveAttribute('aria-busy', 'true');
    const place = placeOf('Message 110');
    set((messages) => [...from(100), ...messages], true);
    expect(placeOf('Message 110')).toBe(place);
    expect(screen.getByText('Message 110').closest('li')).toHaveAttribute('aria-setsize', '-1');
  });

  it('is reported when the chat is left, and restored when it opens again', () => {
    const first = showChat(from(200));
    scrollTo(3000);
    const place = placeOf('Message 70');
    first.close();
    const [left] = first.onLeave.mock.lastCall ?? [];
    expect(left).not.toBeNull();
    first.onLeave.mockClear();
    showChat([...from(200), at(201)], { place: left as ReadingPlace });
    expect(placeOf('Message 70')).toBe(place);
  });

  it('is the end after leaving at the end, or when its message is gone', () => {
    const first = showChat(from(200));
    first.close();
    expect(first.onLeave).toHaveBeenLastCalledWith(null);
    showChat(from(200), { place: { messageId: 'gone', offset: 3, heights: new Map() } });
    expect(fromEnd()).toBe(0);
  });
});

describe('the line of new messages', () => {
  const line = () => screen.queryByText('New messages');
  /** The text of the row that the line stands above. */
  const below = () => line()?.closest('li')?.querySelector('article')?.textContent;

  it('stands below the last read message, until another one arrives after the line was in sight', () => {
    const messages = [...from(5), at(6, { senderId: aino.id }), ...from(3, 7)];
    const { set } = showChat(messages, { readSeq: 5, unread: 3 });
    expect(below()).toContain('Message 7');
    set((before) => [...before, at(10)]);
    expect(line()).toBeNull();
  });

  it('stays while the reader is further up or has not come to it yet', () => {
    const { set } = showChat(from(200), { readSeq: 100, unread: 100 });
    set((messages) => [...messages, at(201)]);
    scrollTo(100 * rowHeight);
    expect(below()).toContain('Message 101');
    set((messages) => [...messages, at(202)]);
    expect(below()).toContain('Message 101');
    scrollTo(scroller().scrollHeight);
    set((messages) => [...messages, at(203)]);
    scrollTo(100 * rowHeight);
    expect(line()).toBeNull();
  });

  it('goes when one writes', () => {
    const { set } = showChat(from(5), { readSeq: 2, unread: 3 });
    expect(below()).toContain('Message 3');
    set((messages) => [...messages, at(6, { senderId: aino.id, seq: null, status: 'sending' })]);
    expect(line()).toBeNull();
  });

  it('is absent when all was read, and for messages that arrive in sight', () => {
    const { set } = showChat(from(5), { readSeq: 5 });
    expect(line()).toBeNull();
    set((messages) => [...messages, at(6)]);
    expect(line()).toBeNull();
  });

  it('is absent for the first message of all when it arrives in sight', () => {
    const { set } = showChat([], { readSeq: 0 });
    set(() => from(1));
    expect(line()).toBeNull();
  });

  it('waits for the messages of a chat that loads, including older ones', () => {
    const { set } = showChat([], { readSeq: 2, unread: 8 });
    set(() => from(5, 6), true);
    expect(line()).toBeNull();
    set((messages) => [...from(5), ...messages]);
    expect(below()).toContain('Message 3');
  });

  describe('of a page out of sight', () => {
    const seen = (hidden: boolean) =>
      act(() => {
        vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
        document.dispatchEvent(new Event('visibilitychange'));
      });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    it('stands above what came meanwhile', () => {
      const { set } = showChat(from(5), { readSeq: 5 });
      seen(true);
      set((messages) => [...messages, at(6)]);
      seen(false);
      expect(below()).toContain('Message 6');
      seen(true);
      seen(false);
      expect(below()).toContain('Message 6');
      set((messages) => [...messages, at(7)]);
      expect(line()).toBeNull();
    });

    it('stands where reading had stopped in a chat that was opened out of sight', () => {
      seen(true);
      showChat(from(5), { readSeq: 3, unread: 2 });
      seen(false);
      expect(below()).toContain('Message 4');
    });
  });
});

describe('the keys of the list', () => {
  it('lead from message to message, beginning at the newest', async () => {
    const { user } = showChat(from(300));
    act(() => scroller().focus());
    await user.keyboard('{ArrowUp}');
    expect(document.activeElement).toHaveTextContent('Message 300');
    await user.keyboard('{ArrowUp}{ArrowUp}{ArrowDown}');
    expect(document.activeElement).toHaveTextContent('Message 299');
    await user.keyboard('{Home}');
    expect(document.activeElement).toHaveTextContent('Message 1');
    await user.keyboard('{End}{ArrowDown}');
    expect(document.activeElement).toHaveTextContent('Message 300');
  });

  it('keep the message that has the focus, however far it is scrolled', async () => {
    const { user } = showChat(from(300));
    act(() => scroller().focus());
    await user.keyboard('{ArrowUp}');
    scrollTo(0);
    expect(document.activeElement).toHaveTextContent('Message 300');
  });

  it('lead with Tab to the actions of that message only', async () => {
    const { user } = showChat(from(30));
    act(() => scroller().focus());
    await user.keyboard('{ArrowUp}{ArrowUp}');
    await user.tab();
    const button = within(screen.getByText('Message 29').closest('li') as HTMLElement).getByRole('button', {
      name: 'Message actions',
    });
    expect(button).toHaveFocus();
    const reachable = screen
      .getAllByRole('button', { name: 'Message actions' })
      .filter(({ tabIndex }) => tabIndex === 0);
    expect(reachable).toEqual([button]);
  });
});

describe('a long text', () => {
  it('stays unfolded where it was unfolded', async () => {
    const long = 'word '.repeat(600);
    const { user } = showChat([...from(100), at(101, { content: { kind: 'text', text: long } })]);
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    act(() => scroller().focus());
    await user.keyboard('{Home}');
    expect(screen.queryByRole('button', { name: 'Show less' })).toBeNull();
    scrollTo(100_000);
    expect(screen.getByRole('button', { name: 'Show less' })).toBeVisible();
  });
});
