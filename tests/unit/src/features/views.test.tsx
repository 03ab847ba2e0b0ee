import { screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ViewsButton } from '#src/features/conversation/Views.tsx';
import type { ViewComparison } from '#src/store/chats.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { aino, createWorld, veikko } from '../support/app.tsx';

const conversationId = 'direct:aino-id:veikko-id';
const author = { userId: veikko.id, deviceId: 'device', savedAt: '2026-06-01T12:00:00.000Z' };

async function openViews() {
  const world = createWorld();
  const user = world.show(
    <ViewsButton conversationId={conversationId} ownId={aino.id} nameOf={() => 'veikko'} />,
  );
  await user.click(screen.getByRole('button', { name: 'Compare with another browser' }));
  const dialog = await screen.findByRole('dialog', { name: 'Compare what was shown' });
  const compare = (text = '{}') => {
    const input = dialog.querySelector<HTMLInputElement>('input[type=file]');
    return user.upload(input!, new File([text], 'theirs.json', { type: 'application/json' }));
  };
  return { ...world, user, dialog, compare };
}

describe('both views of a conversation', () => {
  const written: string[] = [];
  beforeEach(() => {
    written.length = 0;
    vi.stubGlobal('showSaveFilePicker', async () => ({
      createWritable: async () => ({
        write: async (text: string) => void written.push(text),
        close: async () => void written.push('closed'),
        abort: async () => void written.push('aborted'),
      }),
    }));
    return () => vi.unstubAllGlobals();
  });

  it('are saved without texts, unless the person wants them', async () => {
    const { actions, toasts, user } = await openViews();
    actions.saveView.mockResolvedValue('the file');
    await user.click(screen.getByRole('button', { name: 'Save what this browser saw' }));
    await waitFor(() => expect(toasts()).toEqual(['success: The file was saved.']));
    expect(actions.saveView).toHaveBeenLastCalledWith(conversationId, false);
    expect(written).toEqual(['the file', 'closed']);
    await user.click(screen.getByRole('switch', { name: 'With the texts of the messages' }));
    await user.click(screen.getByRole('button', { name: 'Save what this browser saw' }));
    await waitFor(() => expect(actions.saveView).toHaveBeenLastCalledWith(conversationId, true));
  });

  it('leave no file where one can’t be made', async () => {
    const { actions, toasts, user } = await openViews();
    actions.saveView.mockRejectedValue(new Error('boom'));
    await user.click(screen.getByRole('button', { name: 'Save what this browser saw' }));
    await waitFor(() => expect(toasts()).toEqual(['error: The file could not be saved.']));
    expect(written).toEqual(['aborted']);
  });

  const seen = { userId: veikko.id, deviceId: 'device', messageId: 'm', kind: null };
  it.each<[string, ViewComparison['result'], RegExp]>([
    ['are the same', { kind: 'same', from: 2, upTo: 40 }, /veikko was given the same.*from no. 2 to no. 40/],
    [
      'part at a message',
      { kind: 'parts', position: 7, here: { ...seen, text: 'Thanks' }, there: { ...seen, text: null } },
      /At no. 7.*This browser was given.*veikko: Thanks.*veikko was given.*veikko: a message/,
    ],
    [
      'part at files and a reaction',
      {
        kind: 'parts',
        position: 7,
        here: { ...seen, kind: 'files', text: 'At the lake' },
        there: { ...seen, kind: 'reaction', text: '👍' },
      },
      /veikko: files At the lake.*veikko: a reaction 👍/,
    ],
    [
      'part at changes without their texts',
      {
        kind: 'parts',
        position: 7,
        here: { ...seen, kind: 'edit', text: null },
        there: { ...seen, kind: 'deletion', text: null },
      },
      /veikko: another text for a message.*veikko: the deletion of a message/,
    ],
    [
      'part at something else',
      {
        kind: 'parts',
        position: 7,
        here: { ...seen, userId: aino.id, text: 'Mine' },
        there: { ...seen, userId: null, messageId: null, text: null },
      },
      /You: Mine.*Somebody: no message, but a change of members or keys/,
    ],
    ['have parted before', { kind: 'earlier', position: 3 }, /parted before no. 3/],
    ['have nothing in common', { kind: 'apart' }, /no place in common/],
  ])('%s', async (_, result, words) => {
    const { actions, compare, dialog } = await openViews();
    actions.compareView.mockResolvedValue({ author, result });
    await compare('their file');
    await waitFor(() => expect(dialog).toHaveTextContent(words));
    expect(actions.compareView).toHaveBeenCalledExactlyOnceWith(conversationId, 'their file');
    expect(dialog).toHaveTextContent(/signed by veikko: saved on/);
  });

  it.each([
    ['malformed', /no file of what a browser saw/],
    ['wrong-group', /about another conversation/],
    ['bad-signature', /changed after it was saved/],
    ['invalid-credential', /from nobody in this conversation/],
    ['unknown-person', /from nobody in this conversation/],
    ['storage', /could not be compared/],
  ] as const)('say what is wrong with a file: %s', async (code, words) => {
    const { actions, compare, dialog } = await openViews();
    actions.compareView.mockRejectedValue(new CryptoApiError(code));
    await compare();
    await waitFor(() => expect(dialog).toHaveTextContent(words));
  });
});
