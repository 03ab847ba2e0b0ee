import {
  type Connect,
  type FrameRequest,
  interfaceVersion,
  isOfType,
} from '../../workers/api/frameMessages.ts';
import { isKeysOriginOf } from '../../workers/api/origins.ts';

/** Milliseconds after page and frame have loaded: what it says and that it has loaded come from two processes, in any order. */
const silentAfterLoad = 10_000;

export interface KeysFrame {
  /** Gives the worker a port through which it is called. The first one starts it. */
  start(port: MessagePort): void;
  /** Deletes the session, and ends the worker whatever it is doing. Rejects with the name of what went wrong. */
  lock(): Promise<void>;
  /** Keeps the frame's files in this browser, so that they are there offline. */
  keep(): void;
  /** The port to the frame, for what is asked so seldom that its code comes on demand (proofRoom.ts). */
  readonly control: MessagePort;
  /** Gives the frame a port about releases (`RoomRequest`, `RoomNotice`). */
  room(port: MessagePort): void;
  /** Calls back when the session was deleted, here or in another tab: the worker is gone then. */
  onLocked(listener: () => void): void;
  /**
   * Resolves when the frame can't be reached, or its worker can't be loaded or has died; noted from the start, before
   * anybody asks.
   */
  readonly broken: Promise<'frame' | 'worker'>;
}

let started: KeysFrame | null = null;

/** The frame with the worker that holds the keys: there is one, which loads with the page. */
export function keysFrame(): KeysFrame {
  started ??= connectFrame();
  return started;
}

function connectFrame(): KeysFrame {
  const element = document.getElementById('keys');
  const layer = document.getElementById('keys-layer');
  if (!(element instanceof HTMLIFrameElement) || !(layer instanceof HTMLDialogElement)) {
    throw new Error('index.html has no frame for the keys');
  }
  const { port1: control, port2: frameSide } = new MessageChannel();

  let silence: ReturnType<typeof setTimeout> | undefined;
  let onBroken = (_part: 'frame' | 'worker') => {};
  const broken = new Promise<'frame' | 'worker'>((resolve) => {
    onBroken = resolve;
  });
  window.addEventListener('message', function connect({ data, origin, source }) {
    if (source !== element.contentWindow || !isOfType(data, 'ready')) return;
    window.removeEventListener('message', connect);
    window.removeEventListener('load', awaitFrame);
    clearTimeout(silence);
    const isOurs = isKeysOriginOf(window.location.origin, origin);
    if (!isOurs || !('version' in data) || data.version !== interfaceVersion) {
      return onBroken('frame');
    }
    element.contentWindow?.postMessage({ type: 'connect' } satisfies Connect, origin, [frameSide]);
  });
  // It may have said that it is there before anybody listened. The question tells nothing to whoever is there instead.
  element.contentWindow?.postMessage({ type: 'hello' }, '*');
  // Its script has run by then, or never will: an address that can't be reached loads, too, as an error page.
  function awaitFrame(): void {
    silence = setTimeout(() => onBroken('frame'), silentAfterLoad);
  }
  if (document.readyState === 'complete') awaitFrame();
  else window.addEventListener('load', awaitFrame);

  const locked = new Set<() => void>();
  const waiting: { resolve: () => void; reject: (reason: unknown) => void }[] = [];
  control.addEventListener('message', ({ data }) => {
    if (isOfType(data, 'broken')) onBroken('worker');
    if (isOfType(data, 'show')) show();
    if (isOfType(data, 'hide')) hide();
    if (!isOfType(data, 'locked', 'lock-failed')) return;
    for (const listener of locked) listener();
    for (const { reject, resolve } of waiting.splice(0)) {
      if (data.type === 'locked') resolve();
      else reject(new Error('name' in data ? String(data.name) : ''));
    }
  });
  control.start();
  const ask = (request: FrameRequest, ...ports: MessagePort[]) => control.postMessage(request, ports);

  let isWanted = false;
  let focused: Element | null = null;
  /** Lays the frame over the page, which can't be used meanwhile, and gives it the focus. */
  const show = () => {
    isWanted = true;
    // A dialog of the page's hides what lay beside it from screen readers.
    layer.removeAttribute('aria-hidden');
    layer.close();
    layer.showModal();
    element.focus();
    const { dataset, lang } = document.documentElement;
    ask({ type: 'visible', language: lang, theme: dataset.theme ?? 'system' });
  };
  const hide = () => {
    isWanted = false;
    layer.close();
    // A button that waits for what was confirmed can't have the focus back: its surroundings get it.
    const { activeElement, body } = document;
    if (activeElement === body || layer.contains(activeElement)) {
      focused?.closest<HTMLElement>('[tabindex]')?.focus();
    }
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && !layer.contains(target)) focused = target;
  });
  // By Escape, while the page still has the focus.
  layer.addEventListener('close', () => {
    if (isWanted && !layer.open) ask({ type: 'dismiss' });
  });

  return {
    start: (port) => ask({ type: 'start' }, port),
    lock: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        ask({ type: 'lock' });
      }),
    keep: () => ask({ type: 'keep' }),
    control,
    room: (port) => ask({ type: 'room' }, port),
    onLocked: (listener) => void locked.add(listener),
    broken,
  };
}
