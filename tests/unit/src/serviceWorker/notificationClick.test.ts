import { beforeEach, expect, it, vi } from 'vitest';
import { paths } from '#src/lib/paths.ts';
import { chatPath, dashboardPath, parseChatPath } from '#src/serviceWorker/chatPath.ts';
import { openedChatIn } from '#src/serviceWorker/messages.ts';
import { openChatOf } from '#src/serviceWorker/notificationClick.ts';

const origin = 'https://sinetti.example';
const chat = { ownerId: '4999d3e4-75ba-48a7-83c1-ea2dcca06234', key: 'group-caf76c71-c763-4205-8b39' };
const link = chatPath(chat);

const openWindow = vi.fn<(url: string) => Promise<void>>();

beforeEach(() => {
  openWindow.mockReset().mockResolvedValue();
});

function tab(path: string) {
  return {
    url: `${origin}${path}`,
    postMessage: vi.fn<(message: unknown) => void>(),
    focus: vi.fn<() => Promise<void>>().mockResolvedValue(),
  };
}

function click(data: unknown, ...tabs: readonly ReturnType<typeof tab>[]): Promise<void> {
  return openChatOf({ data }, { matchAll: async () => tabs, openWindow });
}

it('a notification opens its chat in one of the open dashboards', async () => {
  const terms = tab('/terms');
  const [first, second] = [tab('/dashboard'), tab('/dashboard')];
  await click(link, terms, first, second);
  expect(first.focus).toHaveBeenCalledOnce();
  expect(first.postMessage.mock.calls.map(([message]) => openedChatIn(message))).toEqual([chat]);
  for (const other of [terms, second]) {
    expect(other.focus).not.toHaveBeenCalled();
    expect(other.postMessage).not.toHaveBeenCalled();
  }
  expect(openWindow).not.toHaveBeenCalled();
});

it('a notification opens its chat in a new tab if no dashboard is open', async () => {
  await click(link, tab('/terms'));
  expect(openWindow).toHaveBeenCalledExactlyOnceWith(link);
});

it.each([
  undefined,
  null,
  { path: link },
  '',
  '/dashboard',
  '/dashboard#',
  '/dashboard#one',
  '/dashboard#one/two/three',
  '/terms#one/two',
  `${link}\n`,
  `//evil.example${link}`,
  `https://evil.example${link}`,
  '//evil.example#one/two',
  '/dashboard/../logout#one/two',
  'javascript:alert(1)#one/two',
  `/dashboard#one/${'x'.repeat(65)}`,
  '/dashboard#one/%2e%2e',
])('a notification with the data %j opens nothing', async (data) => {
  const dashboard = tab('/dashboard');
  await click(data, dashboard);
  await click(data);
  expect(dashboard.focus).not.toHaveBeenCalled();
  expect(openWindow).not.toHaveBeenCalled();
  expect(openedChatIn({ type: 'open-chat', path: data })).toBeNull();
});

it('the path of a chat is the dashboard’s, and parses back to the chat', () => {
  expect(dashboardPath).toBe(paths.dashboard);
  expect(parseChatPath(link)).toEqual(chat);
});
