import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { FilesContent } from '#src/features/files/FilesContent.tsx';
import { activeConversationAtom, chatsAtom } from '#src/store/chats.ts';
import type { AttachedFile, FileActions } from '#src/store/files.ts';
import { chat, createWorld, message, veikko } from '../support/app.tsx';
import { base64Url, png, webp } from '../support/pictures.ts';

const file = (number: number, rest: Partial<AttachedFile> = {}): AttachedFile => ({
  kind: 'picture',
  name: `${number}.png`,
  type: 'image/png',
  size: 33,
  description: `Picture of ${number}`,
  width: 1200,
  height: 800,
  ...rest,
});
const pictures = (count: number) => Array.from({ length: count }, (_, at) => file(at + 1));

/** A message of Veikko with files, and the bytes that come when they are asked for. */
function show(files: readonly AttachedFile[], bytesOf: (index: number) => BlobPart = () => png(1200, 800)) {
  const world = createWorld();
  const read = vi.fn<FileActions['read']>(async ({ index }) => new Blob([bytesOf(index)]));
  const save = vi.fn<FileActions['save']>().mockResolvedValue();
  world.actions.files.mockResolvedValue({ read, save } as Partial<FileActions> as FileActions);
  const received = message(veikko.id, { kind: 'files', text: '', files });
  world.store.set(chatsAtom, { [veikko.id]: chat([received]) });
  world.store.set(activeConversationAtom, veikko.id);
  const user = world.show(<FilesContent open message={received} reachable />);
  return { ...world, user, read, save };
}

const view = (name: string | RegExp) => screen.findByRole('button', { name });

describe('a received picture', () => {
  it('is shown, whatever its sender says of its size, if it is none of too many pixels', async () => {
    show([file(1, { width: 30_000, height: 30_000 })]);
    await waitFor(() => expect(screen.getByRole('button', { name: 'View: Picture of 1' })).toBeEnabled());
    expect(screen.getByRole('img', { name: 'Picture of 1' })).toHaveAttribute(
      'src',
      expect.stringMatching(/^blob:/),
    );
  });

  it.each([
    ['has 30,000 × 30,000 pixels', png(30_000, 30_000), /too large to be read here: 30,000 × 30,000 pixels/],
    ['is none', '<svg xmlns="http://www.w3.org/2000/svg"></svg>', 'This picture can’t be read.'],
    ['says no size', png(9, 9).slice(0, 18), 'This picture can’t be read.'],
  ])('that %s is given to no element, and can be downloaded', async (_what, bytes, sentence) => {
    const { read, save, user } = show([file(1)], () => bytes);
    expect(await screen.findByText(sentence)).toBeVisible();
    expect(screen.getByRole('button', { name: 'View: Picture of 1' })).toBeDisabled();
    for (const image of screen.getAllByRole('img')) expect(image).not.toHaveAttribute('src');
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Download' }));
    await waitFor(() => expect(save).toHaveBeenCalledOnce());
    expect(read).toHaveBeenCalledOnce();
  });

  it('that the browser can’t draw says so, in the chat and in the viewer', async () => {
    const { user } = show(pictures(2));
    const first = await view('View: Picture of 1');
    await waitFor(() => expect(first).toBeEnabled());
    await user.click(first);
    const viewer = within(await screen.findByRole('dialog'));
    fireEvent.error(await viewer.findByRole('img', { name: 'Picture of 1' }));
    expect(await viewer.findByRole('alert')).toHaveTextContent('This picture can’t be read.');
    expect(viewer.queryByRole('img')).toBeNull();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    fireEvent.error(screen.getByRole('img', { name: 'Picture of 2' }));
    expect(await screen.findByText('This picture can’t be read.')).toBeVisible();
    expect(screen.getByRole('button', { name: 'View: Picture of 2' })).toBeDisabled();
    expect(first).toBeEnabled();
  });

  it('has no preview whose few bytes are many pixels', async () => {
    const preview = (side: number) =>
      ({ type: 'image/webp', bytes: base64Url(webp.lossless(side, side)) }) as const;
    const { read } = show([file(1, { preview: preview(16_000) }), file(2, { preview: preview(320) })]);
    read.mockImplementation(() => new Promise(() => undefined));
    expect(screen.getByRole('img', { name: 'Picture of 1' })).not.toHaveAttribute('src');
    expect(screen.getByRole('img', { name: 'Picture of 2' })).toHaveAttribute(
      'src',
      expect.stringMatching(/^data:/),
    );
  });
});

describe('a received file', () => {
  // As the worker gives them, which has taken path, control characters and turns of direction away.
  it.each(['passwd', 'photogpj.exe', 'שלום.exe'])(
    'of the name %s has it by itself in the bubble, and in what is saved, as bytes',
    async (name) => {
      const picker = vi.fn<(options: object) => Promise<object>>();
      picker.mockResolvedValue({ createWritable: async () => ({}) });
      vi.stubGlobal('showSaveFilePicker', picker);
      const { save, user } = show([file(1, { kind: 'file', type: 'application/octet-stream', name })]);
      // A name in another direction turns nothing around it.
      expect(screen.getByText(name).tagName).toBe('BDI');
      await user.click(screen.getByRole('button', { name: `Download ${name}` }));
      await waitFor(() => expect(save).toHaveBeenCalledOnce());
      expect(picker.mock.calls).toEqual([
        [
          expect.objectContaining({
            suggestedName: name,
            types: [{ accept: { 'application/octet-stream': [expect.any(String)] } }],
          }),
        ],
      ]);
    },
  );
});

describe('a picture of more than 20 MB', () => {
  const large = (number: number) => file(number, { size: 21 * 1024 * 1024 });

  it('is fetched when it is opened, and no sooner', async () => {
    const { read, user } = show([large(1)]);
    const picture = await view('View: Picture of 1');
    expect(picture).toBeEnabled();
    expect(read).not.toHaveBeenCalled();
    await user.click(picture);
    const viewer = within(await screen.findByRole('dialog'));
    expect(await viewer.findByRole('img', { name: 'Picture of 1' })).toHaveAttribute(
      'src',
      expect.stringMatching(/^blob:/),
    );
    expect(read).toHaveBeenCalledOnce();
  });

  it('is never the one before it under its own name', async () => {
    const { read, user } = show([file(1), large(2)]);
    const first = await view('View: Picture of 1');
    await waitFor(() => expect(first).toBeEnabled());
    await user.click(first);
    const viewer = within(await screen.findByRole('dialog'));
    await viewer.findByRole('img', { name: 'Picture of 1' });
    let come: (blob: Blob) => void = () => undefined;
    read.mockImplementation(() => new Promise((resolve) => void (come = resolve)));
    await user.keyboard('{ArrowRight}');
    expect(viewer.getByText('Picture 2 of 2')).toBeVisible();
    expect(viewer.queryByRole('img')).toBeNull();
    await waitFor(() =>
      expect(read).toHaveBeenLastCalledWith(expect.objectContaining({ index: 1 }), large(2)),
    );
    come(new Blob([png(30_000, 30_000)]));
    expect(await viewer.findByRole('alert')).toHaveTextContent(/too large/);
    expect(viewer.queryByRole('img')).toBeNull();
  });
});

describe('the viewer', () => {
  it('draws nothing of a picture it has left, not for a moment', async () => {
    const { user } = show(pictures(2));
    const first = await view('View: Picture of 1');
    await waitFor(() => expect(first).toBeEnabled());
    await user.click(first);
    const viewer = within(await screen.findByRole('dialog'));
    const before = (await viewer.findByRole('img', { name: 'Picture of 1' })).getAttribute('src');
    const drawn: unknown[] = [];
    const observer = new MutationObserver((changes) => {
      for (const { target } of changes)
        if (target instanceof HTMLImageElement && target.alt === 'Picture of 2') drawn.push(target.src);
    });
    observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ['alt'] });
    await user.keyboard('{ArrowRight}');
    expect(await viewer.findByRole('img', { name: 'Picture of 2' })).not.toHaveAttribute('src', before);
    observer.disconnect();
    expect(drawn).toEqual([]);
  });

  it('closes where the picture that it has come to is deleted, and opens again', async () => {
    const { store, user } = show(pictures(1));
    const key = veikko.id;
    const later = message(key, { kind: 'files', text: '', files: [file(2)] });
    const messages = store.get(chatsAtom)[key]?.messages ?? [];
    act(() => store.set(chatsAtom, { [key]: chat([...messages, later]) }));
    const first = await view('View: Picture of 1');
    await waitFor(() => expect(first).toBeEnabled());
    await user.click(first);
    const viewer = within(await screen.findByRole('dialog'));
    await user.keyboard('{ArrowRight}');
    await viewer.findByRole('img', { name: 'Picture of 2' });
    act(() => store.set(chatsAtom, { [key]: chat(messages) }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await user.click(first);
    expect(await within(await screen.findByRole('dialog')).findByText('Picture 1 of 1')).toBeVisible();
  });
});

describe('pictures that came together', () => {
  it.each([1, 2, 3, 6])('have each a button if they are %d', async (count) => {
    show(pictures(count));
    const names = pictures(count).map(({ description }) => `View: ${description}`);
    await waitFor(() =>
      expect(screen.getAllByRole('button').map((one) => one.getAttribute('aria-label'))).toEqual(names),
    );
    expect(screen.getAllByRole('img')).toHaveLength(count);
  });

  it('are six to be seen of twenty, and the viewer leads to the others, which nobody has fetched before', async () => {
    const { read, user } = show(pictures(20));
    const last = await view('View: Picture of 6, and 14 more pictures');
    expect(last).toHaveTextContent('+14');
    expect(screen.getAllByRole('img')).toHaveLength(6);
    await waitFor(() => expect(last).toBeEnabled());
    expect(read.mock.calls.map(([{ index }]) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    last.focus();
    await user.keyboard('{Enter}');
    const viewer = within(await screen.findByRole('dialog'));
    expect(viewer.getByText('Picture 6 of 20')).toBeVisible();
    await user.keyboard('{ArrowRight}');
    expect(await viewer.findByRole('img', { name: 'Picture of 7' })).toBeVisible();
    expect(read).toHaveBeenLastCalledWith(expect.objectContaining({ index: 6 }), expect.anything());
    await user.keyboard('{Escape}');
    await waitFor(() => expect(last).toHaveFocus());
  });

  it('leave the file beside them a row of its own', async () => {
    const plan = file(3, { kind: 'file', name: 'plan.pdf' });
    show([file(1), plan, file(2)]);
    expect(await view('View: Picture of 2')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Download plan.pdf' })).toBeVisible();
    expect(screen.getByText('plan.pdf')).toBeVisible();
    expect(screen.getAllByRole('img')).toHaveLength(2);
  });

  it('of which one can’t be shown keep the others', async () => {
    show(pictures(3), (index) => (index === 1 ? png(30_000, 30_000) : png(9, 9)));
    expect(await screen.findByText(/too large/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'View: Picture of 2' })).toBeDisabled();
    for (const number of [1, 3])
      await waitFor(() =>
        expect(screen.getByRole('button', { name: `View: Picture of ${number}` })).toBeEnabled(),
      );
  });
});
