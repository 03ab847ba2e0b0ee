// Somebody who writes a lot: real clients of the product without a screen, in a process of their own.

import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '#src/lib/clock.ts';
import { tokenStorageKey } from '#src/services/session/token.ts';
import { contactsAtom, incomingRequestsAtom } from '#src/store/contacts.ts';
import { uploadsAtom } from '#src/store/files.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { Browser, type Tab } from '../../support/headlessBrowser.ts';
import { serveLines } from '../lines.ts';

const relayUrl = process.argv[2] ?? '';
const socketUrl = relayUrl.replace('http', 'ws');
const newBrowser = () =>
  new Browser(
    { url: relayUrl, mqttUrl: `${socketUrl}/mqtt`, presenceUrl: `${socketUrl}/ws/presence/` },
    { clock: systemClock, withoutMqtt: true },
  );

/** Messages on their way to the relay together. */
const atOnce = 16;

const writersBrowser = newBrowser();
let writer: Tab | null = null;

function nameOf(tab: Tab): string {
  return tab.store.get(currentUserAtom)?.username ?? '';
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Asks the person of that name to be a contact. */
async function ask(tab: Tab, username: string): Promise<void> {
  const found = (await tab.actions.searchUsers(username)).find((person) => person.username === username);
  if (found === undefined) throw new Error(`nobody is called ${username}`);
  const { success, message } = await tab.actions.sendContactRequest(found.id);
  if (!success) throw new Error(message);
}

const commands = {
  /** Signs the writer up, and asks. */
  async meet(username: string): Promise<string> {
    writer = await writersBrowser.openTab().signUp(`pal-${randomUUID().slice(0, 8)}`);
    await ask(writer, username);
    return nameOf(writer);
  },

  /** @param count of people who ask, and are never heard of again */
  async crowd(username: string, count: string): Promise<string> {
    const batch = 10;
    for (let made = 0; made < Number(count); made += batch) {
      await Promise.all(
        Array.from({ length: Math.min(batch, Number(count) - made) }, async () => {
          const tab = await newBrowser()
            .openTab()
            .signUp(`crowd-${randomUUID().slice(0, 8)}`);
          await ask(tab, username);
          tab.kill();
        }),
      );
    }
    return '';
  },

  /** Accepts everybody who asked. */
  async accept(): Promise<string> {
    const tab = theWriter();
    await until(() => tab.store.get(incomingRequestsAtom).items.length > 0);
    for (const { id } of tab.store.get(incomingRequestsAtom).items)
      await tab.actions.acceptContactRequest(id);
    return '';
  },

  /**
   * Writes that many messages to the contact: through the worker as the product does, to the relay many at a time.
   * @param pictures `pictures` for every tenth to be one
   */
  async write(username: string, count: string, pictures = ''): Promise<string> {
    const tab = theWriter();
    const isContact = () => tab.store.get(contactsAtom).items.find((one) => one.username === username);
    await until(() => isContact() !== undefined);
    const userId = isContact()?.id ?? '';
    await tab.actions.openChat(userId);
    await throughOutbox(tab, userId, 'The first of many.');
    const conversationId = tab.chat(userId).state?.conversationId ?? '';

    for (let number = 1; number < Number(count); ) {
      const numbers = Array.from({ length: Math.min(atOnce, Number(count) - number) }, () => number++);
      await Promise.all(
        numbers.map((one) =>
          post(tab, userId, conversationId, pictures !== '' && one % 10 === 5 ? null : textOf(one)),
        ),
      );
    }
    return '';
  },

  /** Sends a picture as the product does, which the relay has. */
  async show(username: string): Promise<string> {
    const tab = theWriter();
    const contact = tab.store.get(contactsAtom).items.find((one) => one.username === username);
    const userId = contact?.id ?? '';
    const source = new Blob([new Uint8Array(Buffer.from(picture.preview.bytes, 'base64url'))]);
    await (await tab.actions.files()).send(userId, '', [{ source, facts: picture }]);
    await until(() => Object.keys(tab.store.get(uploadsAtom)).length === 0);
    return '';
  },

  /** Says something as the product does, through its outbox. */
  async say(username: string, text: string): Promise<string> {
    const tab = theWriter();
    const contact = tab.store.get(contactsAtom).items.find((one) => one.username === username);
    await tab.actions.sendMessage(contact?.id ?? '', text);
    return '';
  },
};

function theWriter(): Tab {
  if (writer === null) throw new Error('nobody has met anybody yet');
  return writer;
}

/** Makes messages as long as people write them: most are short, some are not. */
function textOf(number: number): string {
  const words = 3 + ((number * 7919) % 23) + (number % 50 === 0 ? 120 : 0);
  return `${number}: ${'so it goes and '.repeat(Math.ceil(words / 4))}`.slice(0, words * 4).trim();
}

/** A point with its preview: what there is to read of it is what a photograph has. */
const picture = {
  name: 'IMG_2041.png',
  type: 'image/png',
  kind: 'picture',
  description: 'A boat on a blue lake',
  width: 1200,
  height: 800,
  preview: {
    type: 'image/png',
    bytes: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg',
  },
} as const;

/** Queues a picture of which the relay has nothing: it would take days to upload as many, by its quotas. */
async function queuePicture(
  tab: Tab,
  message: { conversationId: string; messageId: string; sentAt: string },
) {
  const bytes = new Uint8Array(100);
  const { fileId } = await tab.crypto.beginFile(bytes.length);
  await tab.crypto.sealPiece(fileId, 0, bytes.buffer);
  const blobId = randomBytes(16).toString('base64url');
  await tab.crypto.queueFiles({ ...message, text: '', files: [{ ...picture, fileId, blobId }] });
}

/** @param text null for a picture */
async function post(tab: Tab, userId: string, conversationId: string, text: string | null): Promise<void> {
  const messageId = randomUUID();
  const message = { conversationId, messageId, sentAt: new Date().toISOString() };
  if (text === null) await queuePicture(tab, message);
  else await tab.crypto.queueMessage({ ...message, text });
  const prepared = await tab.crypto.prepareMessage(messageId);
  // A commit is due first, now and then: the product's outbox knows how, and takes along what waits.
  if (prepared.kind !== 'message') return throughOutbox(tab, userId, text ?? 'After a picture.');
  // The first message went through the outbox, which has registered it.
  const start = prepared.start ?? (await tab.crypto.start()).tag;
  const answer = await fetch(`${relayUrl}/api/messages/user/${userId}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${writersBrowser.storage.getItem(tokenStorageKey)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ messageId, epoch: prepared.epoch, content: prepared.content, start }),
  });
  if (!answer.ok) throw new Error(`the relay answered ${answer.status} ${await answer.text()}`);
  const { seq, timestamp } = (await answer.json()) as { seq: number; timestamp: string };
  await tab.crypto.messageAccepted(messageId, { seq, timestamp });
}

async function throughOutbox(tab: Tab, userId: string, text: string): Promise<void> {
  await tab.actions.sendMessage(userId, text);
  await until(() => tab.chat(userId).messages.every(({ status }) => status !== 'sending'));
}

await serveLines(commands);
