import { act, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { FilesContent } from '#src/features/files/FilesContent.tsx';
import {
  type AttachedFile,
  downloadKey,
  downloadsAtom,
  type FileActions,
  type FileDownload,
  type Upload,
  uploadsAtom,
} from '#src/store/files.ts';
import { aino, createWorld, message } from '../support/app.tsx';

const file: AttachedFile = {
  name: 'plan.pdf',
  type: 'application/octet-stream',
  kind: 'file',
  description: '',
  size: 40_000_000,
};

function show() {
  const world = createWorld();
  const files = {
    pauseUpload: vi.fn<FileActions['pauseUpload']>().mockResolvedValue(),
    resumeUpload: vi.fn<FileActions['resumeUpload']>().mockResolvedValue(),
    discardUpload: vi.fn<FileActions['discardUpload']>().mockResolvedValue(),
  };
  world.actions.files.mockResolvedValue(files as Partial<FileActions> as FileActions);
  const sent = message(aino.id, { kind: 'files', text: '', files: [file] });
  const user = world.show(<FilesContent open message={sent} reachable />);
  const place = { conversationId: sent.conversationId, messageId: sent.messageId, index: 0 };
  return { ...world, files, place, sent, user };
}

describe('an upload', () => {
  const upload: Upload = { progress: 0.426, isWaiting: false, isPaused: false, failure: null };

  it('is paused, resumed and given up by keys, and its button keeps the focus', async () => {
    const { files, sent, store, user } = show();
    const { messageId } = sent;
    const set = (changed: Partial<Upload>) =>
      act(() => store.set(uploadsAtom, { [messageId]: { ...upload, ...changed } }));
    set({});
    expect(screen.getByRole('progressbar', { name: 'Upload' })).toHaveAttribute(
      'aria-valuetext',
      'Uploading 42 %',
    );
    await user.tab();
    expect(screen.getByRole('button', { name: 'Pause' })).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(files.pauseUpload).toHaveBeenCalledExactlyOnceWith(messageId);
    set({ isPaused: true });
    expect(screen.getByText('Paused at 42 %')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Resume' })).toHaveFocus();
    await user.keyboard(' ');
    expect(files.resumeUpload).toHaveBeenCalledExactlyOnceWith(messageId);
    set({ isPaused: false });
    expect(screen.getByRole('button', { name: 'Pause' })).toHaveFocus();
    await user.tab();
    await user.keyboard('{Enter}');
    expect(files.discardUpload).toHaveBeenCalledExactlyOnceWith(messageId);
  });

  it('that has failed is tried again or discarded, not paused', () => {
    const { sent, store } = show();
    const failure = { code: 'quota', text: 'The server is full.' } as const;
    act(() => store.set(uploadsAtom, { [sent.messageId]: { ...upload, failure } }));
    expect(screen.getByRole('alert')).toHaveTextContent('The server is full.');
    expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
      'Try again',
      'Discard',
    ]);
  });
});

it('a download is paused, resumed and given up below its file', async () => {
  const { place, store, user } = show();
  const acts = { pause: vi.fn<() => void>(), resume: vi.fn<() => void>(), cancel: vi.fn<() => void>() };
  const set = (changed: Partial<FileDownload>) =>
    act(() =>
      store.set(downloadsAtom, {
        [downloadKey(place)]: { progress: 0.1, isPaused: false, ...acts, ...changed },
      }),
    );
  set({});
  expect(screen.getByText('Downloading 10 %')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Pause' }));
  expect(acts.pause).toHaveBeenCalledOnce();
  set({ isPaused: true });
  expect(screen.getByText('Paused at 10 %')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Resume' }));
  expect(acts.resume).toHaveBeenCalledOnce();
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(acts.cancel).toHaveBeenCalledOnce();
});
