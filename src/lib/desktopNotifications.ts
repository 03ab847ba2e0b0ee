/** The browser's own notifications, which appear outside the page. */
import { type ChatLink, chatPath, parseChatPath } from '../serviceWorker/chatPath.ts';
import { openedChatIn } from '../serviceWorker/messages.ts';

/** `default`: not asked yet. */
export type DesktopNotificationPermission = NotificationPermission | 'unsupported';

export function desktopNotificationPermission(): DesktopNotificationPermission {
  return 'Notification' in globalThis ? Notification.permission : 'unsupported';
}

/** Asks the person; browsers allow that only while a click is being handled. */
export async function askForDesktopNotifications(): Promise<DesktopNotificationPermission> {
  const before = desktopNotificationPermission();
  if (before !== 'default') return before;
  const canShow = isConstructible() || (await activeRegistration()) !== null;
  return canShow ? Notification.requestPermission() : 'unsupported';
}

/** Browsers of phones have the name, but no constructor. Only before there is permission does trying show nothing. */
function isConstructible(): boolean {
  try {
    new Notification('').close();
    return true;
  } catch {
    return false;
  }
}

/** Null where the app isn't kept by the browser. */
async function activeRegistration(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined);
  return registration?.active ? registration : null;
}

export interface DesktopNotification {
  readonly title: string;
  readonly body: string;
  /** A new one replaces an older one of the same tag. */
  readonly tag: string;
  readonly chat: ChatLink;
  /** Runs on a click where a page may show notifications by itself; elsewhere `followOpenedChats` is told of the click. */
  readonly onClick: () => void;
}

/** Answers how to take it away again; null where the browser shows none. */
export async function showDesktopNotification({
  title,
  body,
  tag,
  chat,
  onClick,
}: DesktopNotification): Promise<(() => void) | null> {
  if (desktopNotificationPermission() !== 'granted') return null;
  const options = { body, tag, icon: '/icon-192.png', silent: true, data: chatPath(chat) };
  const registration = await activeRegistration();
  try {
    if (registration !== null) {
      // The only way on a phone; a click reaches the service worker (notificationClick).
      await registration.showNotification(title, options);
      return () => void closeShown(registration, tag);
    }
    const notification = new Notification(title, options);
    notification.addEventListener('click', () => {
      window.focus();
      notification.close();
      onClick();
    });
    return () => notification.close();
  } catch {
    // The permission was taken back meanwhile, or was given in the settings of a browser that shows none.
    return null;
  }
}

async function closeShown(registration: ServiceWorkerRegistration, tag: string): Promise<void> {
  for (const notification of await registration.getNotifications({ tag })) notification.close();
}

/** Tells of each chat that a click has opened, in this tab or to open this tab. Answers how to end it. */
export function followOpenedChats(open: (chat: ChatLink) => void): () => void {
  const { pathname, hash } = window.location;
  const inAddress = parseChatPath(`${pathname}${hash}`);
  if (inAddress !== null) {
    // Once: to load the page again, or to go back to it, must not lead there again.
    window.history.replaceState(window.history.state, '', pathname);
    open(inAddress);
  }
  if (!('serviceWorker' in navigator)) return () => undefined;
  const container = navigator.serviceWorker;
  function hear({ data }: MessageEvent<unknown>): void {
    const chat = openedChatIn(data);
    if (chat !== null) open(chat);
  }
  container.addEventListener('message', hear);
  return () => container.removeEventListener('message', hear);
}
