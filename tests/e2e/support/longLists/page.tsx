/** The Messages tab alone, over messages and contacts made here: as many as nobody could send in a test. */
import '@fontsource-variable/inter';
import '#src/ui/tokens.css';
import '#src/ui/base.css';
import { createStore, Provider } from 'jotai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { MessagesTab } from '#src/features/messages/MessagesTab.tsx';
import { activateLocale } from '#src/i18n/i18n.ts';
import { mergeMessages } from '#src/services/conversations/chats.ts';
import { type AppActions, actionsAtom } from '#src/store/actions.ts';
import {
  activeConversationAtom,
  type Chat,
  chatsAtom,
  emptyChat,
  type MessageView,
} from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import type { AttachedFile, FileActions, FilePlace } from '#src/store/files.ts';
import { currentUserAtom } from '#src/store/session.ts';

declare global {
  interface Window {
    /** Somebody writes. */
    arrive: (text: string) => void;
    /** Message ids of the pictures that were fetched, and the number of those that the page holds. */
    pictures: { readonly fetched: Set<string>; held: number };
  }
}

const query = new URLSearchParams(window.location.search);
const total = Number(query.get('messages') ?? 50_000);
/** Number of them in memory at first; the others come page by page. */
const held = Number(query.get('held') ?? total);
const people = Number(query.get('people') ?? 5000);
/** Every so manieth message is a picture; 0 for none. */
const pictures = Number(query.get('pictures') ?? 0);
const pageSize = 150;
const minute = 60_000;
const begin = Date.now() - (total + 1000) * minute;

const words = 'sauna lake fishing tomorrow at six will you come along yes no perhaps boat oars coffee'.split(
  ' ',
);

/** Makes a text of any length from a word to a wall, the same for the same number. */
function textOf(seq: number): string {
  const length = seq % 97 === 0 ? 300 : 1 + ((seq * 7919) % 23);
  return `${seq}: ${Array.from({ length }, (_, index) => words[(seq + index * index) % words.length]).join(' ')}`;
}

/** A grey point, as small as a preview can be. */
const previewBytes =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg';

/** Makes a picture that is wide, square or tall. */
function pictureOf(seq: number): AttachedFile {
  return {
    name: `IMG_${seq}.png`,
    type: 'image/png',
    kind: 'picture',
    description: `Picture ${seq}`,
    size: 40_000,
    width: 800,
    height: [450, 800, 1200][seq % 3] ?? 800,
    preview: { type: 'image/png', bytes: previewBytes },
  };
}

function messageOf(seq: number, text = textOf(seq)): MessageView {
  const own = seq % 3 === 0;
  const isPicture = pictures > 0 && seq % pictures === 5;
  return {
    conversationId: 'conversation',
    messageId: `m${seq}`,
    seq,
    senderId: own ? 'me' : 'person-0',
    senderDeviceId: 'device',
    timestamp: new Date(begin + seq * minute).toISOString(),
    status: own ? 'sent' : 'received',
    content: isPicture ? { kind: 'files', text: '', files: [pictureOf(seq)] } : { kind: 'text', text },
  };
}

const store = createStore();
const range = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => messageOf(first + index));

let oldest = total - held + 1;
let newest = total;

function change(update: (chat: Chat) => Partial<Chat>): void {
  store.set(chatsAtom, (chats) => {
    const chat = chats['person-0'] ?? emptyChat;
    return { ...chats, 'person-0': { ...chat, ...update(chat) } };
  });
}

window.pictures = { fetched: new Set(), held: 0 };
const createObjectURL = URL.createObjectURL.bind(URL);
const revokeObjectURL = URL.revokeObjectURL.bind(URL);
URL.createObjectURL = (blob) => {
  window.pictures.held += 1;
  return createObjectURL(blob);
};
URL.revokeObjectURL = (url) => {
  window.pictures.held -= 1;
  revokeObjectURL(url);
};

/** Draws the picture of a message, each in its own colour. */
async function read({ messageId }: FilePlace, { height = 1, width = 1 }: AttachedFile): Promise<Blob> {
  window.pictures.fetched.add(messageId);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  context.fillStyle = `hsl(${Number(messageId.slice(1)) % 360} 60% 50%)`;
  context.fillRect(0, 0, width, height);
  return canvas.convertToBlob();
}

async function loadOlderMessages(): Promise<void> {
  // About as long as the worker takes.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const first = Math.max(1, oldest - pageSize);
  const page = range(first, oldest - 1);
  oldest = first;
  change(({ messages }) => ({ messages: mergeMessages(messages, page), hasOlder: oldest > 1 }));
}

const actions: Partial<AppActions> = {
  openChat: async (userId) => store.set(activeConversationAtom, userId),
  loadOlderMessages,
  files: async () => ({ read }) as Partial<FileActions> as FileActions,
};
// Anything else that the tab asks for fails, as it does without a network. (With a `then` it would be a promise.)
const withoutNetwork = new Proxy(actions, {
  get: (given, name, receiver) =>
    name in given || name === 'then'
      ? Reflect.get(given, name, receiver)
      : () => Promise.reject(new Error(`${String(name)} is not here`)),
});
store.set(actionsAtom, withoutNetwork as AppActions);
store.set(currentUserAtom, { id: 'me', username: 'me', email: '', full_name: '', created_at: '' });
store.set(contactsAtom, {
  items: Array.from({ length: people }, (_, index) => ({
    id: `person-${index}`,
    username: `person ${String(index).padStart(4, '0')}`,
    email: '',
  })),
  loading: false,
  loaded: true,
  error: null,
});
change(() => ({ messages: mergeMessages([], range(oldest, total)), hasOlder: oldest > 1 }));

window.arrive = (text) => {
  newest += 1;
  const message = { ...messageOf(newest, text), senderId: 'person-0', status: 'received' as const };
  change(({ messages }) => ({ messages: mergeMessages(messages, [message]) }));
};

function Page() {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <main style={{ height: '100dvh' }}>
      <MessagesTab
        open={open}
        focusRequest={0}
        onOpen={setOpen}
        onClose={() => setOpen(null)}
        onFindContacts={() => undefined}
      />
    </main>
  );
}

async function start(): Promise<void> {
  await activateLocale('en');
  const root = document.getElementById('root');
  if (root === null) throw new Error('no #root');
  createRoot(root).render(
    <Provider store={store}>
      <Page />
    </Provider>,
  );
}

void start();
