import { screen, within } from '@testing-library/react';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { addTexts } from '#src/i18n/i18n.ts';
import { FilesSection } from '#src/pages/prove/FilesSection.tsx';
import { LastMessageSection } from '#src/pages/prove/LastMessageSection.tsx';
import { groupKeyOf } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import type { FilesCheck, LastSent, Proof, RelayCopy, RelayEntry } from '#src/store/proof.ts';
import { aino, createWorld, loaded, veikko } from '../support/app.tsx';
import { group } from '../support/groups.ts';

beforeAll(async () => {
  for (const part of ['legal', 'tabs', 'members'] as const) await addTexts(part);
});

const entry: RelayEntry = {
  senderId: aino.id,
  senderDeviceId: 'abcdef0123456789',
  epoch: 4,
  seq: 17,
  timestamp: '2026-06-01T12:00:00Z',
};
const text: LastSent['text'] = {
  text: 'See you at eight!',
  key: veikko.id,
  conversationId: 'direct:aino-id:veikko-id',
  deviceId: entry.senderDeviceId,
  seq: 17,
  isEdited: false,
};
const bytes = Uint8Array.from({ length: 440 }, (_, at) => at % 251);
const copy: Extract<RelayCopy, { kind: 'bytes' }> = {
  kind: 'bytes',
  bytes,
  fields: [
    { name: 'version', length: 2, value: 'mls10' },
    { name: 'wireFormat', length: 2, value: 'mls_private_message' },
    { name: 'groupId', length: 40, value: text.conversationId },
  ],
  match: 'same',
  hasText: false,
  entry,
};

function open(last: LastSent | null, { signedIn = true } = {}) {
  const world = createWorld({ signedIn });
  world.store.set(contactsAtom, loaded(veikko));
  world.actions.lastSent.mockResolvedValue(last);
  return { ...world, user: world.show(<LastMessageSection />, '/prove') };
}

async function ask(last: LastSent | null) {
  const { actions, user } = open(last);
  expect(actions.lastSent).not.toHaveBeenCalled();
  await user.click(screen.getByRole('button', { name: 'Show what the server has' }));
  await screen.findByRole('button', { name: 'Ask again' });
  return user;
}

const written = () => screen.getByRole('heading', { name: 'You wrote to veikko' }).parentElement!;
const server = () => screen.getByRole('heading', { name: 'The server has' }).parentElement!;
const octets = () => within(server()).getAllByRole('list')[0]!.textContent?.replaceAll(' ', '') ?? '';

describe('one’s last message at the relay', () => {
  it('is for who is signed in; others read so, with the ways in', () => {
    const { actions } = open(null, { signedIn: false });
    expect(screen.getByText(/For this you have to be logged in/)).toBeVisible();
    expect(screen.getByRole('link', { name: 'Log In' })).toHaveAttribute('href', '/login');
    expect(screen.getByRole('link', { name: 'Sign Up' })).toHaveAttribute('href', '/signup');
    expect(screen.queryByRole('button')).toBeNull();
    expect(actions.lastSent).not.toHaveBeenCalled();
  });

  it('stands as bytes beside what one wrote, once one asks', async () => {
    const user = await ask({ text, copy });
    expect(written()).toHaveTextContent('See you at eight!');
    expect(server()).toHaveTextContent('All of it: 440 bytes');
    expect(octets()).toMatch(/^000000102030405060700808090a/);
    expect(octets()).not.toContain('9fa0');
    await user.click(screen.getByRole('button', { name: 'Bytes 160 to 439' }));
    expect(within(server()).getAllByRole('list')[1]).toHaveTextContent(/^160a0a1/);
    expect(within(server()).getAllByRole('list')[1]).toHaveTextContent(/432b5b6b7b8b9babbbc$/);
  });

  it('has its first bytes in the open, each field by its place and name, and the rest sealed', async () => {
    await ask({ text, copy });
    const fields = within(server())
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent);
    expect(fields.slice(-3)).toEqual([
      '0–1Version of MLSmls10',
      '2–3Kind of messagemls_private_message',
      '4–43Conversationdirect:aino-id:veikko-id',
    ]);
    expect(server()).toHaveTextContent('The rest, 396 bytes, is sealed');
  });

  it('is said to be what was sent, without a piece of the text, and known by whom, where and when', async () => {
    await ask({ text, copy });
    expect(server()).toHaveTextContent(/It is what this browser sent, to the last byte/);
    expect(server()).toHaveTextContent('Not a piece of your text is to be found in the sealed bytes.');
    const facts = within(server())
      .getAllByRole('definition')
      .map(({ textContent }) => textContent);
    expect(facts).toEqual([
      'aino, from this browser (abcdef01)',
      'veikko',
      expect.stringContaining('2026'),
      'No. 17 in this conversation',
      expect.stringContaining('440 bytes, for a text of 17'),
    ]);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it.each<[string, Partial<typeof copy>, RegExp, role: 'alert' | 'status']>([
    ['is another one', { match: 'different' }, /This is not what this browser sent/, 'alert'],
    ['can’t be compared', { match: 'unknown' }, /no longer has its own record of this place/, 'status'],
    ['can be read', { hasText: true }, /A piece of your text stands in the bytes/, 'alert'],
    ['is too short', { hasText: null }, /Your text is too short/, 'status'],
  ])('says so where it %s', async (_name, change, sentence, role) => {
    await ask({ text, copy: { ...copy, ...change } });
    const said = within(server()).getAllByRole(role);
    expect(said.some(({ textContent }) => sentence.test(textContent ?? ''))).toBe(true);
  });

  it('names the sender that the relay names, where that is another', async () => {
    await ask({ text, copy: { ...copy, entry: { ...entry, senderDeviceId: 'phone' } } });
    expect(server()).toHaveTextContent('aino-id phone');
    expect(server()).not.toHaveTextContent('from this browser');
  });

  it('shows no more than 512 bytes of a long one, and bytes that are none of MLS as such', async () => {
    const user = await ask({ text, copy: { ...copy, bytes: new Uint8Array(2000), fields: [] } });
    expect(server()).toHaveTextContent('The first 512 of 2,000 bytes');
    expect(server()).toHaveTextContent('These bytes are no message of MLS.');
    await user.click(screen.getByRole('button', { name: 'Bytes 160 to 511' }));
    expect(within(server()).getAllByRole('listitem')).toHaveLength(64);
  });

  it('shows of a field no more than of the bytes, however long the server makes it', async () => {
    const value = 'z'.repeat(100_000);
    const long = { name: 'authenticatedData', length: value.length, value } as const;
    await ask({ text, copy: { ...copy, fields: [...copy.fields, long], match: 'different' } });
    expect(within(server()).getByText(/^z+$/)).toHaveTextContent(/^z{512}$/);
  });

  it('is a hash alone once the server has deleted it', async () => {
    await ask({ text, copy: { kind: 'digest', digest: 'q4-hash', match: 'same', entry } });
    expect(server()).toHaveTextContent(/Nothing but a hash of it/);
    expect(server()).toHaveTextContent('q4-hash');
    expect(server()).toHaveTextContent(/It is the hash of what this browser sent/);
    expect(server()).not.toHaveTextContent('for a text of');
    expect(server()).toHaveTextContent('Key set4');
  });

  it.each([
    [groupKeyOf('group-1'), 'Sailing', 'everybody in the group, whose name it does not know'],
    [aino.id, 'Notes to self', 'your own browsers'],
  ])('is known to be for %s, of whose name the server knows nothing', async (key, name, known) => {
    const { store, user } = open({ text: { ...text, key }, copy });
    store.set(groupsAtom, loaded(group()));
    await user.click(screen.getByRole('button', { name: 'Show what the server has' }));
    expect(await screen.findByRole('heading', { name: `You wrote in ${name}` })).toBeVisible();
    expect(within(server()).getAllByRole('definition')[1]).toHaveTextContent(known);
    expect(server()).not.toHaveTextContent(name);
  });

  it.each<[RelayCopy['kind'] & ('missing' | 'refused' | 'unreachable'), RegExp]>([
    ['missing', /Nothing at the place of your message/],
    ['refused', /you are not in this conversation any more/],
    ['unreachable', /The server does not answer at the moment/],
  ])('is %s: a calm sentence beside what one wrote', async (kind, sentence) => {
    await ask({ text, copy: { kind } });
    expect(written()).toHaveTextContent('See you at eight!');
    expect(within(server()).getByRole('status')).toHaveTextContent(sentence);
  });

  it('waits without a connection', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    await ask({ text, copy: { kind: 'unreachable' } });
    expect(within(server()).getByRole('status')).toHaveTextContent('You seem to be offline.');
    vi.restoreAllMocks();
  });

  it('is none in a browser that has sent no text', async () => {
    await ask(null);
    expect(screen.getByRole('status')).toHaveTextContent('This browser knows of no text that it has sent');
    expect(screen.queryByRole('heading', { name: 'The server has' })).toBeNull();
  });

  it('is shown as it was first sent, mentions by their names', async () => {
    const words = `Moi [@Veikko](sinetti:user/${veikko.id}), **now**`;
    await ask({ text: { ...text, text: words, isMarkdown: true, isEdited: true }, copy });
    expect(written()).toHaveTextContent('Moi @veikko, **now**');
    expect(written()).toHaveTextContent(/You have edited it since/);
  });

  it('can be asked for again after a failure', async () => {
    const { actions, user } = open({ text, copy });
    actions.lastSent.mockRejectedValueOnce(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Show what the server has' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('That could not be finished.');
    await user.click(screen.getByRole('button', { name: 'Show what the server has' }));
    expect(await screen.findByRole('heading', { name: 'The server has' })).toBeVisible();
  });
});

describe('the files of the page', () => {
  const check: FilesCheck = {
    release: { version: '1.3.0', seq: 2, keysFiles: 4, isHeld: true },
    stated: { state: 'same' },
    isKept: true,
    isCut: false,
    files: [
      { path: '/index.html', hash: 'page-hash', result: 'same' },
      { path: '/service-worker.js', hash: 'worker-hash', result: 'same' },
    ],
  };

  async function compare(found: Partial<FilesCheck>) {
    const proof: Proof = {
      runVectors: vi.fn<Proof['runVectors']>(),
      startPlay: vi.fn<Proof['startPlay']>(),
      close: vi.fn<Proof['close']>(),
      checkFiles: async () => ({ ...check, ...found }),
    };
    const user = createWorld({ signedIn: false }).show(<FilesSection proof={proof} />, '/prove');
    await user.click(screen.getByRole('button', { name: 'Compare the files' }));
    await screen.findByRole('button', { name: 'Compare again' });
    return user;
  }
  const alarms = () => screen.queryAllByRole('alert').map(({ textContent }) => textContent);
  const notices = () => screen.queryAllByRole('status').map(({ textContent }) => textContent);

  it('are said to be the release’s, and which ones were looked at', async () => {
    await compare({});
    expect(notices()).toEqual(['All 2 files are those of release 1.3.0.']);
    expect(screen.getByText(/^Compared with release 1\.3\.0, which this browser holds on to/)).toBeVisible();
    expect(screen.getByText(/^\/index\.html is the page in use, as this browser keeps it/)).toBeVisible();
    expect(alarms()).toEqual([]);
  });

  it('raise no alarm while the relay has a newer release, whose script it sends', async () => {
    const [page] = check.files;
    const script = { path: '/service-worker.js', hash: 'next-hash', result: 'stated' } as const;
    const user = await compare({ stated: { state: 'newer', version: '1.4.0' }, files: [page!, script] });
    expect(notices()).toEqual([
      'All 1 files are those of release 1.3.0.',
      expect.stringMatching(/^The server has a newer release, 1\.4\.0\. That is no cause for worry/),
    ]);
    expect(alarms()).toEqual([]);
    await user.click(screen.getByRole('button', { name: '2 files and their hashes' }));
    expect(screen.getByText('next-hash').closest('li')).toHaveTextContent(
      'As in the release that the server states now',
    );
  });

  it.each<[string, Partial<FilesCheck>, RegExp, 'alert' | 'status']>([
    [
      'a byte is another',
      { files: [{ path: '/assets/a.js', hash: 'h', result: 'different' }] },
      /^1 file is not what release 1\.3\.0 says\. Don’t type a password here/,
      'alert',
    ],
    [
      'the relay goes back',
      { stated: { state: 'other', version: '1.2.0' } },
      /^The server now states release 1\.2\.0, which doesn’t follow release 1\.3\.0/,
      'status',
    ],
    ['the relay states none', { stated: { state: 'none' } }, /^The server states no release/, 'status'],
    ['the browser’s notes are full', { isCut: true }, /^Your browser has stopped noting/, 'status'],
    [
      'there is none',
      { release: null, stated: { state: 'none' } },
      /^This server has no signed release/,
      'status',
    ],
    [
      'it can’t be read',
      { release: null, stated: { state: 'unreadable' } },
      /^The release that this server states/,
      'status',
    ],
  ])('say so where %s', async (_name, found, sentence, role) => {
    await compare(found);
    const said = role === 'alert' ? alarms() : notices();
    expect(said.some((text) => sentence.test(text ?? ''))).toBe(true);
    expect(alarms()).toHaveLength(role === 'alert' ? 1 : 0);
  });

  it('that nobody keeps are what the relay sends now', async () => {
    await compare({ isKept: false, release: { ...check.release!, isHeld: false } });
    expect(screen.getByText(/the one that these files are most like\.$/)).toBeVisible();
    expect(screen.getByText(/service-worker\.js are what the server sends now/)).toBeVisible();
  });

  it('are checked from outside by a command that says whose root it needs', async () => {
    await compare({});
    expect(screen.getByText(/^npx -p sinetti-open sinetti verify \S+ --root ROOT$/)).toBeVisible();
  });
});
