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
import { currentUserAtom } from '#src/store/session.ts';

declare global {
  interface Window {
    /** Somebody writes. */
    arrive: (text: string) => void;
  }
}

const query = new URLSearchParams(window.location.search);
const total = Number(query.get('messages') ?? 50_000);
/** Number of them in memory at first; the others come page by page. */
const held = Number(query.get('held') ?? total);
const people = Number(query.get('people') ?? 5000);
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

function messageOf(seq: number, text = textOf(seq)): MessageView {
  const own = seq % 3 === 0;
  return {
    conversationId: 'conversation',
    messageId: `m${seq}`,
    seq,
    senderId: own ? 'me' : 'person-0',
    senderDeviceId: 'device',
    timestamp: new Date(begin + seq * minute).toISOString(),
    status: own ? 'sent' : 'received',
    content: { kind: 'text', text },
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
