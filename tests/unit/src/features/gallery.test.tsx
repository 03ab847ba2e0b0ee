import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GalleryButton } from '#src/features/files/GalleryButton.tsx';
import { type MessageView, soughtAtom } from '#src/store/chats.ts';
import { offlineAtom } from '#src/store/connection.ts';
import type { AttachedFile, FileActions, FileKind } from '#src/store/files.ts';
import { forgetInGalleryAtom, galleryAtom, galleryShelves, type ShelfName } from '#src/store/gallery.ts';
import { createWorld, message, veikko } from '../support/app.tsx';
import { base64Url, png, webp } from '../support/pictures.ts';

const preview = { type: 'image/webp', bytes: base64Url(webp.lossless(32, 32)) } as const;
const file = (kind: FileKind, name: string, rest: Partial<AttachedFile> = {}): AttachedFile => ({
  kind,
  name,
  type: 'image/png',
  size: 33,
  description: '',
  ...(kind === 'picture' || kind === 'film' ? { preview } : {}),
  ...rest,
});
const sent = (timestamp: string, ...files: readonly AttachedFile[]) =>
  message(veikko.id, { kind: 'files', text: '', files }, { timestamp });

/** Opens the gallery of Veikko's chat, of which each page has so many messages. */
async function open(messages: readonly MessageView[], pageSize = 60) {
  const world = createWorld();
  const fails = { next: false };
  const loadGallery = vi.fn<FileActions['loadGallery']>(async (_key, name) => {
    if (fails.next) throw new Error('storage');
    const kinds: readonly string[] = galleryShelves[name];
    const all = messages.filter(
      ({ content }) => content.kind === 'files' && content.files.some(({ kind }) => kinds.includes(kind)),
    );
    const before = world.store.get(galleryAtom)?.shelves[name];
    const end = (before?.messages.length ?? 0) + pageSize;
    const shelf = { messages: all.slice(0, end), before: end >= all.length ? null : 1000 - end };
    world.store.set(galleryAtom, (gallery) =>
      gallery === null ? null : { ...gallery, shelves: { ...gallery.shelves, [name]: shelf } },
    );
  });
  const read = vi.fn<FileActions['read']>(async () => new Blob([png(1200, 800)]));
  const save = vi.fn<FileActions['save']>().mockResolvedValue();
  const stream = vi.fn<FileActions['stream']>(() => new Promise(() => undefined));
  const files: Partial<FileActions> = { loadGallery, read, save, stream };
  world.actions.files.mockResolvedValue(files as FileActions);
  const user = world.show(<GalleryButton conversationKey={veikko.id} />);
  const opens = async () => user.click(await screen.findByRole('button', { name: 'Media and files' }));
  const tab = async (name: string) => user.click(await screen.findByRole('tab', { name }));
  return { ...world, fails, loadGallery, opens, read, save, stream, tab, user };
}

const dialog = () => screen.findByRole('dialog', { name: 'Media and files' });
const pictures = async () =>
  within(await dialog())
    .getAllByRole('button', { name: /^View: / })
    .map((button) => button.getAttribute('aria-label'));
/** Messages of one month with a picture each, named by its day, the newest first. */
const days = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, at) => last - at).map((day) =>
    sent(`2026-11-${String(day).padStart(2, '0')}T10:00:00.000Z`, file('picture', `${day}.png`)),
  );
const shelvesAsked = (calls: readonly unknown[][]) => calls.map(([, name]) => name as ShelfName);

describe('the gallery of a chat', () => {
  it('shows pictures and films by month, the newest first, with who sent them and when', async () => {
    const world = await open([
      sent(
        '2026-11-03T10:00:00.000Z',
        file('picture', 'c.png'),
        file('film', 'd.webm', { duration: 65_000 }),
      ),
      sent(
        '2026-10-20T10:00:00.000Z',
        file('picture', 'a.png', { description: 'A lake' }),
        file('file', 'x.pdf'),
      ),
    ]);
    await world.opens();
    await waitFor(async () =>
      expect(await pictures()).toEqual([
        expect.stringMatching(/^View: Film: d\.webm, .*November 3, 2026/),
        expect.stringMatching(/^View: Picture: c\.png, .*November 3, 2026/),
        expect.stringMatching(/^View: A lake, .*October 20, 2026/),
      ]),
    );
    const shown = within(await dialog());
    expect(shown.getAllByRole('heading', { level: 3 }).map(({ textContent }) => textContent)).toEqual([
      'November 2026',
      'October 2026',
    ]);
    expect(shown.getByText('1:05')).toBeVisible();
    // Their previews are enough.
    expect(world.read).not.toHaveBeenCalled();
  });

  it('is gone once it is closed, and its messages with it', async () => {
    const world = await open([sent('2026-11-03T10:00:00.000Z', file('picture', 'a.png'))]);
    await world.opens();
    await waitFor(async () => expect(await pictures()).toHaveLength(1));
    await world.user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(world.store.get(galleryAtom)).toBeNull();
    expect(screen.getByRole('button', { name: 'Media and files' })).toHaveFocus();
  });

  it('opens the viewer, which leads on and to the message', async () => {
    const [newer, older] = [
      sent('2026-11-03T10:00:00.000Z', file('picture', 'b.png')),
      sent('2026-11-02T10:00:00.000Z', file('picture', 'a.png')),
    ];
    const world = await open([newer, older]);
    await world.opens();
    await world.user.click(await screen.findByRole('button', { name: /^View: Picture: b\.png/ }));
    const viewer = within(await screen.findByRole('dialog', { name: 'b.png' }));
    expect(viewer.getByRole('button', { name: 'Next' })).toBeDisabled();
    await world.user.click(viewer.getByRole('button', { name: 'Previous' }));
    await screen.findByRole('dialog', { name: 'a.png' });
    await world.user.click(screen.getByRole('button', { name: 'Go to message' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(world.store.get(soughtAtom)).toEqual({ key: veikko.id, messageId: older.messageId });
  });

  it('plays a film in the viewer', async () => {
    const world = await open([sent('2026-11-03T10:00:00.000Z', file('film', 'boat.webm'))]);
    await world.opens();
    await world.user.click(await screen.findByRole('button', { name: /^View: Film: boat\.webm/ }));
    const viewer = within(await screen.findByRole('dialog', { name: 'boat.webm' }));
    // A box that captured the pointer, as it does to move a picture, would get the click.
    const capture = vi.fn<Element['setPointerCapture']>();
    Element.prototype.setPointerCapture = capture;
    onTestFinished(() => void Reflect.deleteProperty(Element.prototype, 'setPointerCapture'));
    await world.user.click(viewer.getByRole('button', { name: 'Play: Film: boat.webm' }));
    expect(capture).not.toHaveBeenCalled();
    await waitFor(() => expect(world.stream).toHaveBeenCalledOnce());
    expect(viewer.queryByRole('button', { name: 'Zoom in' })).toBeNull();
  });

  it('drops what is deleted while it is open, in the viewer too', async () => {
    const [kept, gone] = [
      sent('2026-11-03T10:00:00.000Z', file('picture', 'kept.png')),
      sent('2026-11-02T10:00:00.000Z', file('picture', 'gone.png')),
    ];
    const world = await open([kept, gone]);
    await world.opens();
    await world.user.click(await screen.findByRole('button', { name: /^View: Picture: gone\.png/ }));
    await screen.findByRole('dialog', { name: 'gone.png' });
    act(() => world.store.set(forgetInGalleryAtom, gone.messageId));
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'gone.png' })).toBeNull());
    expect(await pictures()).toEqual([expect.stringContaining('kept.png')]);
  });

  it('leads by the arrow keys from one picture to the next, over the months', async () => {
    const world = await open([
      sent('2026-11-03T10:00:00.000Z', file('picture', 'b.png')),
      sent('2026-10-02T10:00:00.000Z', file('picture', 'a.png')),
    ]);
    await world.opens();
    const [first, second] = [
      await screen.findByRole('button', { name: /b\.png/ }),
      await screen.findByRole('button', { name: /a\.png/ }),
    ];
    act(() => first.focus());
    await world.user.keyboard('{ArrowRight}');
    expect(second).toHaveFocus();
    expect([first.tabIndex, second.tabIndex]).toEqual([-1, 0]);
    await world.user.keyboard('{ArrowLeft}');
    expect(first).toHaveFocus();
  });

  it.each([
    ['stays where it is', 0, true],
    // The thirteenth of a month begins the next block.
    ['moves to the next block', 11, false],
    ['is in a block below', 20, true],
  ])('leaves the focus on a picture that %s as others come before it', async (_how, at, isSame) => {
    const all = days(28, 2);
    const world = await open(all.slice(1));
    await world.opens();
    const name = new RegExp(`^View: Picture: ${28 - at - 1}\\.png`);
    const tile = await screen.findByRole('button', { name });
    act(() => tile.focus());
    act(() =>
      world.store.set(galleryAtom, { key: veikko.id, shelves: { media: { messages: all, before: null } } }),
    );
    await screen.findByRole('button', { name: /^View: Picture: 28\.png/ });
    const now = screen.getByRole('button', { name });
    expect(now).toHaveFocus();
    expect([now === tile, now.tabIndex]).toEqual([isSame, 0]);
    // The focus is left alone once it is elsewhere.
    await world.user.click(screen.getByRole('tab', { name: 'Media' }));
    act(() => document.querySelector<HTMLElement>(':focus')?.blur());
    act(() => world.store.set(forgetInGalleryAtom, all[0]?.messageId ?? ''));
    await waitFor(() => expect(screen.queryByRole('button', { name: /28\.png/ })).toBeNull());
    expect(screen.getByRole('button', { name })).not.toHaveFocus();
  });

  it('fetches no picture before it is opened, and shows a sign for those without a preview', async () => {
    const { preview: _preview, ...none } = file('picture', 'none.png');
    const many = { type: 'image/webp', bytes: base64Url(webp.lossless(16_000, 16_000)) } as const;
    const world = await open([
      sent(
        '2026-11-03T10:00:00.000Z',
        none,
        file('picture', 'many.png', { preview: many }),
        file('picture', 'small.png'),
      ),
    ]);
    await world.opens();
    const tile = (name: string) =>
      screen.findByRole('button', { name: new RegExp(`^View: Picture: ${name}\\.png, .* November 3, 2026`) });
    for (const name of ['none', 'many']) {
      expect((await tile(name)).querySelector('svg')).toBeVisible();
      expect((await tile(name)).querySelector('img')).toBeNull();
    }
    expect((await tile('small')).querySelector('svg')).toBeNull();
    expect((await tile('small')).querySelector('img')).toHaveAttribute(
      'src',
      expect.stringMatching(/^data:/),
    );
    expect(world.read).not.toHaveBeenCalled();
    await world.user.click(await tile('none'));
    await within(await screen.findByRole('dialog', { name: 'none.png' })).findByRole('img');
    expect(world.read).toHaveBeenCalledOnce();
  });

  it('goes on to load as its end comes into sight', async () => {
    const all = Array.from({ length: 5 }, (_, at) =>
      sent(`2026-11-0${9 - at}T10:00:00.000Z`, file('picture', `${at}.png`)),
    );
    const world = await open(all, 2);
    await world.opens();
    await waitFor(async () => expect(await pictures()).toHaveLength(5));
    expect(world.loadGallery).toHaveBeenCalledTimes(3);
  });

  it('lists files, which are saved, and sounds, which are played, each with a way to its message', async () => {
    const [document, voice] = [
      sent('2026-11-03T10:00:00.000Z', file('file', 'plan.pdf', { size: 1200 })),
      sent('2026-11-02T10:00:00.000Z', file('voice', 'voice.ogg', { duration: 3000 })),
    ];
    const world = await open([document, voice]);
    await world.opens();
    expect(await screen.findByText('No pictures or films yet')).toBeVisible();
    await world.tab('Files');
    expect(await screen.findByText('plan.pdf')).toBeVisible();
    await world.user.click(screen.getByRole('button', { name: 'Download plan.pdf' }));
    await waitFor(() => expect(world.save).toHaveBeenCalledOnce());
    await world.tab('Audio');
    expect(await screen.findByRole('button', { name: 'Play: Voice message' })).toBeEnabled();
    expect(shelvesAsked(world.loadGallery.mock.calls)).toEqual(['media', 'files', 'audio']);
    await world.user.click(screen.getByRole('button', { name: /^Go to message: Voice message/ }));
    await waitFor(() =>
      expect(world.store.get(soughtAtom)).toEqual({ key: veikko.id, messageId: voice.messageId }),
    );
  });

  it('says that it could not be loaded, and tries again', async () => {
    const world = await open([sent('2026-11-03T10:00:00.000Z', file('picture', 'a.png'))]);
    world.fails.next = true;
    await world.opens();
    expect(await screen.findByText('The files of this conversation could not be loaded.')).toBeVisible();
    expect(world.loadGallery).toHaveBeenCalledOnce();
    world.fails.next = false;
    await world.user.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(async () => expect(await pictures()).toHaveLength(1));
  });

  it('says offline what opens later', async () => {
    const world = await open([sent('2026-11-03T10:00:00.000Z', file('picture', 'a.png'))]);
    act(() => world.store.set(offlineAtom, true));
    await world.opens();
    expect(await screen.findByText(/^Offline: what this browser has not loaded yet/)).toBeVisible();
    expect(await pictures()).toHaveLength(1);
  });
});
