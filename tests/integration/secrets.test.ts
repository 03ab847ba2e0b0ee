import { rm } from 'node:fs/promises';
import path from 'node:path';
import { paddedLength } from '@sinetti/crypto-core';
import {
  decodeRecoveryKey,
  passwordKeys,
  recoveryAuthKey,
  recoveryKeyPair,
  recoveryProofSeed,
} from '@sinetti/crypto-core/account';
import { sealedFileLength } from '@sinetti/crypto-core/content';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder } from '../../relay/test/helpers.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import { draftsAtom } from '../../src/store/drafts.ts';
import { groupsAtom } from '../../src/store/groups.ts';
import {
  Browser,
  type BrowserOptions,
  befriend,
  type Tab,
  until,
  untilConnected,
} from './support/browser.ts';
import { drawnBytes, drawnWaveform, goneBytes, goneSizes, sendGone } from './support/goneFiles.ts';
import { openedRecords } from './support/openedRecords.ts';
import { type RecordingProxy, startRecordingProxy } from './support/recordingProxy.ts';
import { bytesOfFolder, bytesOfIndexedDb, findSecrets, type Secret, sizesIn, text } from './support/scan.ts';
import { erased, passwords, sentences, timedWords } from './support/sentences.ts';

const fileBytes = new TextEncoder().encode('The shallows begin where the oak stood. '.repeat(500));

const pictureBytes = drawnBytes(83_003, 89);
const previewBytes = drawnBytes(240, 57);
const voiceBytes = drawnBytes(90_007, 101);
const waveform = drawnWaveform(11);
/** In bytes: none of them is the length of anything else here. */
const trueSizes = [fileBytes.length, pictureBytes.length, voiceBytes.length, ...goneSizes];

let dataDir: string;
let relay: TestRelay;
let proxy: RecordingProxy;
const browsers: Browser[] = [];
/** Every 32-byte value that a browser drew: seeds, private keys, storage, vault and history keys, path secrets. */
const drawn: Secret[] = [];
const authKeys: Secret[] = [];
const wrapKeys: Secret[] = [];
const proofSeeds: Secret[] = [];
/** As the person keeps it. */
let recoveryKey = '';
/** Everything that the browsers keep, as whoever has their storage keys reads it. */
let opened: Buffer;
let found: Record<'traffic' | 'files' | 'relayLog' | 'clientLog' | 'localStorage' | 'indexedDb', Buffer>;

const options: BrowserOptions = {
  onRandom: (bytes) => {
    if (bytes.length >= 32) drawn.push({ name: `drawn value ${drawn.length}`, bytes: bytes.slice() });
  },
  passwordKeys: (password, params) => {
    const keys = passwordKeys(password, params);
    authKeys.push({ name: 'authKey', bytes: keys.authKey.slice() });
    wrapKeys.push({ name: 'wrapKey', bytes: keys.wrapKey.slice() });
    proofSeeds.push({ name: 'proof seed', bytes: keys.proofSeed.slice() });
    return keys;
  },
};

function newTab(): Tab {
  const browser = new Browser(proxy, options);
  browsers.push(browser);
  return browser.openTab();
}

async function say(from: Tab, to: Tab, sentence: string): Promise<void> {
  await from.actions.sendMessage(to.userId, sentence);
  await until(() => to.lines(from.userId).at(-1), `received: ${sentence}`);
}

async function playStory(): Promise<void> {
  const anna = await newTab().signUp('anna', passwords.anna);
  const bert = await newTab().signUp('bert', passwords.bert);
  await untilConnected(anna, bert);
  await befriend(anna, bert);
  await anna.actions.openChat(bert.userId);
  await bert.actions.openChat(anna.userId);
  await say(anna, bert, sentences.overMqtt);
  await say(bert, anna, sentences.answer);

  const phone = await newTab().logIn('anna', passwords.anna);
  await untilConnected(phone);
  await phone.actions.openChat(bert.userId);
  await until(() => phone.chat(bert.userId).state?.status, 'joined');
  await say(phone, bert, sentences.fromThirdBrowser);

  await phone.actions.openChat(phone.userId);
  await anna.actions.sendMessage(anna.userId, sentences.note);
  await until(() => phone.lines(phone.userId).at(-1), `received: ${sentences.note}`);
  await phone.actions.openChat(bert.userId);

  const groupId = await anna.actions.createGroup(sentences.groupName);
  await anna.actions.addGroupMembers(groupId, [bert.userId]);
  await bert.actions.openGroup(groupId);
  await anna.actions.sendMessage(groupKeyOf(groupId), sentences.inTheGroup);
  await until(() => bert.lines(groupKeyOf(groupId)), [`received: ${sentences.inTheGroup}`]);
  const nameOf = (tab: Tab) => tab.store.get(groupsAtom).items[0]?.name;
  for (const tab of [anna, bert, phone]) await until(() => nameOf(tab), sentences.groupName);
  await bert.actions.openChat(anna.userId);

  anna.cutMqtt();
  await until(() => anna.isConnected, false);
  await say(anna, bert, sentences.overRest);

  const key = bert.userId;
  const idOf = (sentence: string) =>
    anna.chat(key).messages.find(({ content }) => content.kind === 'text' && content.text === sentence)
      ?.messageId ?? '';
  await anna.actions.sendMessage(key, sentences.reply, idOf(sentences.answer));
  await anna.actions.sendMessage(key, sentences.deleted);
  await until(() => bert.lines(anna.userId).at(-1), `received: ${sentences.deleted}`);
  const overRest = idOf(sentences.overRest);
  await anna.actions.changeMessage(key, { kind: 'edit', of: overRest, text: sentences.edited });
  await anna.actions.changeMessage(key, { kind: 'deletion', of: idOf(sentences.deleted) });
  const reaction = { kind: 'reaction', of: overRest, emoji: sentences.reaction, isTaken: false } as const;
  await anna.actions.changeMessage(key, reaction);
  const facts = { type: 'application/pdf', kind: 'file', name: sentences.fileName } as const;
  await (await anna.actions.files()).send(key, sentences.caption, [
    { source: new Blob([fileBytes]), facts: { ...facts, description: sentences.description } },
  ]);
  const seen = () => bert.chat(anna.userId).messages.slice(-4);
  await until(() => seen().map(({ content }) => content.kind), ['text', 'text', 'deleted', 'files']);
  await until(() => seen()[0]?.reactions?.map(({ emoji }) => emoji), [sentences.reaction]);

  await playRest({ anna, bert, phone, groupId, reacted: overRest });

  // Bert logs out, which leaves only sealed records; the others stay signed in.
  await bert.actions.logOut();
  await bert.logIn('bert', passwords.bert);
  await bert.crypto.queueMessage({
    conversationId: anna.chat(bert.userId).state?.conversationId ?? '',
    messageId: crypto.randomUUID(),
    text: sentences.neverSent,
    sentAt: new Date().toISOString(),
  });
  bert.store.set(draftsAtom, () => ({ [anna.userId]: sentences.inDraft }));
  await until(() => bert.crypto.readLocal(`draft:${anna.userId}`), sentences.inDraft);
  // Copies for devices to come have been left at the relay.
  await until(async () => (await anna.crypto.backupState()).position >= 4, true);

  // Anna changes her password, and another browser opens her account by the recovery key.
  const { current } = await anna.actions.loadSafetyNumbers(bert.userId);
  await anna.actions.setVerified(bert.userId, current, true);
  await anna.changePassword(passwords.anna, passwords.annaChanged);
  recoveryKey = await anna.setUpRecoveryKey();
  const { deviceId } = await anna.crypto.openDevice();
  const rescued = newTab();
  await rescued.actions.recover({ identifier: 'anna', recoveryKey, password: passwords.annaRecovered });
  rescued.typist.knows(passwords.annaRecovered);
  await rescued.actions.revokeDevice(deviceId);
}

interface Rest {
  readonly anna: Tab;
  readonly bert: Tab;
  readonly phone: Tab;
  readonly groupId: string;
  /** Message id of what Anna reacts to. */
  readonly reacted: string;
}

/** A picture, a voice message, a mention, a forwarded text, a star, a pin, and what is taken back or disappears. */
async function playRest({ anna, bert, groupId, phone, reacted }: Rest): Promise<void> {
  const key = bert.userId;
  const group = groupKeyOf(groupId);
  const textsOf = (tab: Tab, of: string) =>
    tab.chat(of).messages.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : []));
  const preview = { type: 'image/webp', bytes: Buffer.from(previewBytes).toString('base64url') } as const;
  const picture = { type: 'image/webp', kind: 'picture', width: 1200, height: 800, preview } as const;
  const voice = { type: 'audio/webm', kind: 'voice', duration: 4000, waveform } as const;
  await (await anna.actions.files()).send(key, '', [
    { source: new Blob([pictureBytes]), facts: { ...picture, name: sentences.pictureName, description: '' } },
    { source: new Blob([voiceBytes]), facts: { ...voice, name: 'voice.webm', description: '' } },
  ]);
  const kinds = () => {
    const last = bert.chat(anna.userId).messages.at(-1)?.content;
    return last?.kind === 'files' ? last.files.map(({ kind }) => kind) : [];
  };
  await until(kinds, ['picture', 'voice']);

  const link = `[@bert](sinetti:user/${bert.userId})`;
  await anna.actions.sendMessage(group, `${sentences.mention} ${link}`);
  await anna.actions.forwardMessage(group, { text: sentences.forwarded });
  await until(() => textsOf(bert, group).at(-1), sentences.forwarded);

  const reaction = { kind: 'reaction', of: reacted, emoji: sentences.takenReaction } as const;
  const reactions = () =>
    bert.chat(anna.userId).messages.find(({ messageId }) => messageId === reacted)?.reactions?.length;
  await anna.actions.changeMessage(key, { ...reaction, isTaken: false });
  await until(reactions, 2);
  await anna.actions.changeMessage(key, { ...reaction, isTaken: true });
  await until(reactions, 1);
  await anna.actions.setStar(key, reacted, true);
  await anna.actions.setPinned(key, reacted, true);
  await until(() => bert.chat(anna.userId).state?.pinned.length, 1);

  const deletedId = await sendGone('deleted', anna, bert);
  await anna.actions.changeMessage(key, { kind: 'deletion', of: deletedId });
  const everywhere = [
    [anna, key],
    [bert, anna.userId],
    [phone, key],
  ] as const;
  const kindOf = (tab: Tab, chat: string) =>
    tab.chat(chat).messages.find(({ messageId }) => messageId === deletedId)?.content.kind;
  for (const [tab, chat] of everywhere) await until(() => kindOf(tab, chat), 'deleted');

  await anna.actions.setMessageTimer(key, 5);
  await sendGone('disappeared', anna, bert);
  await anna.actions.sendMessage(key, sentences.disappeared);
  await until(() => textsOf(bert, anna.userId).at(-1), sentences.disappeared);
  const isThere = (tab: Tab, chat: string) =>
    tab.chat(chat).messages.some(({ content }) => 'text' in content && timedWords.includes(content.text));
  for (const [tab, chat] of everywhere) await until(() => isThere(tab, chat), false);
  await anna.actions.setMessageTimer(key, 0);
}

beforeAll(async () => {
  dataDir = await temporaryFolder();
  relay = await startTestRelay({ dataDir });
  proxy = await startRecordingProxy(relay);
  await playStory();
  opened = await openedRecords(
    browsers.map(({ indexedDB }) => indexedDB),
    drawn.map(({ bytes }) => bytes),
  );
  found = {
    traffic: proxy.traffic(),
    files: await bytesOfFolder(dataDir),
    relayLog: Buffer.from(relay.logLines.join('\n')),
    clientLog: Buffer.from(browsers.flatMap(({ logLines }) => logLines).join('\n')),
    localStorage: Buffer.from(JSON.stringify(browsers.map(({ storage }) => [...storage.entries]))),
    indexedDb: Buffer.concat(await Promise.all(browsers.map(({ indexedDB }) => bytesOfIndexedDb(indexedDB)))),
  };
}, 240_000);

afterAll(async () => {
  for (const browser of browsers) browser.close();
  await proxy.close();
  await relay.close();
  await rm(dataDir, { recursive: true });
});

const places = ['traffic', 'files', 'relayLog', 'clientLog', 'localStorage', 'indexedDb'] as const;

/** Everything that the recovery key is or becomes, but for what proves it. */
function recoverySecrets(): Secret[] {
  return [
    text('recovery key', recoveryKey),
    text('recovery key without hyphens', recoveryKey.replaceAll('-', '')),
    { name: 'recovery key', bytes: decodeRecoveryKey(recoveryKey) },
    {
      name: 'private key of the recovery key',
      bytes: recoveryKeyPair(decodeRecoveryKey(recoveryKey)).privateKey,
    },
    { name: 'proof seed of the recovery key', bytes: recoveryProofSeed(decodeRecoveryKey(recoveryKey)) },
  ];
}

function recoveryProof(): Secret {
  return { name: 'recovery proof', bytes: recoveryAuthKey(decodeRecoveryKey(recoveryKey)) };
}

describe.each(places)('what leaves the worker for %s', (place) => {
  it('holds no recovery key', () => {
    expect(findSecrets(found[place], recoverySecrets())).toEqual([]);
  });

  it('holds no sentence', () => {
    const secrets = Object.entries(sentences).map(([name, value]) => text(name, value));
    expect(findSecrets(found[place], secrets)).toEqual([]);
  });

  it('holds no bytes of a file, a preview or a waveform', () => {
    const secrets = [
      { name: 'file', bytes: fileBytes.subarray(1000, 1064) },
      { name: 'picture', bytes: pictureBytes.subarray(1000, 1064) },
      { name: 'voice', bytes: voiceBytes.subarray(1000, 1064) },
      { name: 'preview', bytes: previewBytes.subarray(60, 124) },
      { name: 'waveform', bytes: Uint8Array.from(waveform) },
      text('waveform as numbers', waveform.slice(8, 24).join()),
      ...goneBytes,
    ];
    expect(findSecrets(found[place], secrets)).toEqual([]);
  });

  it('holds no password, no key that wraps the vault and no seed that signs proofs', () => {
    const secrets = Object.entries(passwords).map(([name, value]) => text(`${name}'s password`, value));
    expect(findSecrets(found[place], [...secrets, ...wrapKeys, ...proofSeeds])).toEqual([]);
  });

  it('holds no seed and no private key', () => {
    expect(findSecrets(found[place], drawn)).toEqual([]);
  });
});

it.each(['files', 'relayLog', 'clientLog', 'localStorage', 'indexedDb'] as const)(
  'what proves the password or the recovery key to the relay stays out of %s',
  (place) => {
    expect(findSecrets(found[place], [...authKeys, recoveryProof()])).toEqual([]);
  },
);

describe('what the browsers keep, for whoever opens all of it', () => {
  it('holds nothing that was deleted, was taken back or has disappeared', () => {
    const secrets = Object.entries(sentences)
      .filter(([name]) => erased.includes(name))
      .map(([name, value]) => text(name, value));
    expect(findSecrets(opened, [...secrets, ...goneBytes])).toEqual([]);
  });

  it('holds all the rest, so that the search would find it', () => {
    const kept = Object.entries(sentences).filter(([name]) => !erased.includes(name));
    const secrets = [
      ...kept.map(([name, value]) => text(name, value)),
      { name: 'preview', bytes: previewBytes },
      { name: 'waveform', bytes: Uint8Array.from(waveform) },
    ];
    expect(findSecrets(opened, secrets).sort()).toEqual(secrets.map(({ name }) => name).sort());
  });
});

describe('the size of a file', () => {
  const padded = trueSizes.map((size) => sealedFileLength(paddedLength(size)));

  it('is the padded one in the rows and in the folder of the relay', async () => {
    const rows = await relay.relay.database.db.selectFrom('blobs').select('length').execute();
    const lengths = rows.map(({ length }) => length).toSorted((one, other) => one - other);
    expect(lengths).toEqual(expect.arrayContaining(padded.slice(0, 3)));
    expect(lengths.filter((length) => !padded.includes(length))).toEqual([]);
    // Beside them is a mark of the folder's, of a few bytes.
    expect((await sizesIn(path.join(dataDir, 'blobs'))).filter((size) => size > 100)).toEqual(lengths);
  });

  it('is in no row, log line, header and URL', async () => {
    const { db } = relay.relay.database;
    const tables = await db.introspection.getTables();
    const rows = await Promise.all(
      tables.map(({ name }) =>
        db
          .selectFrom(name as 'blobs')
          .selectAll()
          .execute(),
      ),
    );
    const said = [JSON.stringify(rows), ...relay.logLines, ...proxy.heads].join('\n');
    // By themselves: ids and tokens have digits, too.
    const numbers = new Set(said.match(/(?<![\w.-])\d+(?![\w.-])/g));
    for (const length of padded) expect(numbers).toContain(String(length));
    expect(trueSizes.filter((size) => numbers.has(String(size)))).toEqual([]);
  });
});

describe('the search itself', () => {
  it('sees the traffic: what proves the password goes to the relay, and is found there', () => {
    expect(authKeys.length).toBeGreaterThanOrEqual(4);
    expect(new Set(findSecrets(found.traffic, authKeys))).toEqual(new Set(['authKey']));
    expect(findSecrets(found.traffic, [recoveryProof()])).toEqual(['recovery proof']);
    expect(Math.min(...Object.values(proxy.counts))).toBeGreaterThan(4);
  });

  it('sees the files, and what the browsers stored', () => {
    expect(findSecrets(found.files, [text('email', 'anna@example.org')])).toEqual(['email']);
    const [conversation = ''] = browsers[1]?.tabs[0]?.conversationIds ?? [];
    expect(findSecrets(found.indexedDb, [text('conversation id', conversation)])).toEqual([
      'conversation id',
    ]);
    expect(findSecrets(found.localStorage, [text('token', 'eyJhbGciOi')])).toEqual(['token']);
  });

  it('knows the secrets of all browsers', () => {
    expect(proofSeeds.length).toBe(authKeys.length);
    // 50 KeyPackages of two key pairs for each, and the rest.
    expect(drawn.length).toBeGreaterThan(300);
  });

  it.each([
    ['as it is', (bytes: Buffer) => bytes],
    ['in hexadecimal', (bytes: Buffer) => Buffer.from(bytes.toString('hex'))],
    ...[0, 1, 2].map((offset): [string, (bytes: Buffer) => Buffer] => [
      `inside base64url after ${offset} bytes`,
      (bytes) =>
        Buffer.from(
          Buffer.concat([Buffer.alloc(offset, 7), bytes, Buffer.alloc(5, 9)]).toString('base64url'),
        ),
    ]),
  ])('finds a value %s', (_name, hide) => {
    const bytes = Buffer.from(drawn[0]?.bytes ?? []);
    const haystack = Buffer.concat([Buffer.alloc(100, 1), hide(bytes), Buffer.alloc(100, 2)]);
    expect(findSecrets(haystack, [{ name: 'planted', bytes }])).toEqual(['planted']);
  });
});
