import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MessageList } from '../../../../src/ui/chat/MessageList.tsx';
import type { ChatMessage } from '../../../../src/ui/chat/message.ts';
import { atom, useAtomValue } from 'jotai';
import { aino, createWorld, message, veikko } from '../support/app.tsx';

const rowHeight = 50;
const viewHeight = 200;

/** A chat whose rows are 50 px and whose window is 200 px high: the test environment has no layout of its own. */
function showChat(count: number) {
  vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
    return this.querySelectorAll('li').length * rowHeight;
  });
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(viewHeight);
  const messagesAtom = atom<readonly ChatMessage[]>(
    Array.from({ length: count }, (_, index) => message(veikko.id, `Message ${index}`)),
  );
  const loadOlder = vi.fn<() => Promise<void>>().mockResolvedValue();
  function Chat() {
    const messages = useAtomValue(messagesAtom);
    return (
      <MessageList
        label="Messages with veikko"
        messages={messages}
        ownId={aino.id}
        nameOf={() => 'veikko'}
        isRead={() => false}
        loading={false}
        hasOlder
        onLoadOlder={loadOlder}
        onRetry={() => undefined}
        onDiscard={() => undefined}
        beginning={null}
        empty={null}
      />
    );
  }
  const world = createWorld();
  world.show(<Chat />);
  const scroller = screen.getByRole('region', { name: 'Messages with veikko' });
  const set = (change: (messages: readonly ChatMessage[]) => readonly ChatMessage[]) =>
    act(() => world.store.set(messagesAtom, change));
  const scrollTo = (top: number) => {
    scroller.scrollTop = top;
    fireEvent.scroll(scroller);
  };
  return { loadOlder, scroller, set, scrollTo };
}

const jump = () => screen.queryByRole('button', { name: 'New messages' });

describe('the place in a chat', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is the newest message when it opens and when more arrive', () => {
    const { scroller, set } = showChat(20);
    expect(scroller.scrollTop).toBe(20 * rowHeight);
    set((messages) => [...messages, message(veikko.id, 'New')]);
    expect(scroller.scrollTop).toBe(21 * rowHeight);
    expect(jump()).toBeNull();
  });

  it('stays with a reader who scrolled up, who is told and can jump', () => {
    const { scroller, set, scrollTo } = showChat(20);
    scrollTo(400);
    set((messages) => [...messages, message(veikko.id, 'New')]);
    expect(scroller.scrollTop).toBe(400);
    const button = jump();
    if (button === null) throw new Error('nothing tells of the new message');
    fireEvent.click(button);
    expect(scroller.scrollTop).toBe(21 * rowHeight);
    expect(jump()).toBeNull();
  });

  it('is forgotten for an own message', () => {
    const { scroller, set, scrollTo } = showChat(20);
    scrollTo(400);
    set((messages) => [...messages, message(aino.id, 'Mine')]);
    expect(scroller.scrollTop).toBe(21 * rowHeight);
  });

  it('does not move when older messages come above, which nearing the top asks for', () => {
    const { loadOlder, scroller, set, scrollTo } = showChat(20);
    scrollTo(300);
    expect(loadOlder).not.toHaveBeenCalled();
    scrollTo(100);
    expect(loadOlder).toHaveBeenCalledOnce();
    set((messages) => [
      ...Array.from({ length: 10 }, (_, index) => message(veikko.id, `Older ${index}`)),
      ...messages,
    ]);
    expect(scroller.scrollTop).toBe(100 + 10 * rowHeight);
    expect(jump()).toBeNull();
  });
});
