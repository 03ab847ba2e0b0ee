import { chatPath, dashboardPath, parseChatPath } from './chatPath.ts';
import type { WorkerMessage } from './messages.ts';

/** The parts of the platform's types of these names that are used: pages are checked without them. */
interface OpenWindow {
  readonly url: string;
  postMessage(message: unknown): void;
  focus(): Promise<unknown>;
}
export interface OpenWindows {
  matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<readonly OpenWindow[]>;
  openWindow(url: string): Promise<unknown>;
}

/** Brings the person to the chat that a notification is about: in a dashboard that is open, else in a new tab. */
export async function openChatOf({ data }: Pick<Notification, 'data'>, clients: OpenWindows): Promise<void> {
  const chat = parseChatPath(data);
  if (chat === null) return;
  // The tab in which the app was first opened is not controlled by it.
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const dashboard = windows.find(({ url }) => new URL(url).pathname === dashboardPath);
  if (dashboard === undefined) {
    await clients.openWindow(chatPath(chat));
    return;
  }
  const message: WorkerMessage = { type: 'open-chat', path: chatPath(chat) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  dashboard.postMessage(message);
  await dashboard.focus();
}
