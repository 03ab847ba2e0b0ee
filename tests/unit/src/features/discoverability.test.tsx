import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Discoverability } from '#src/features/profile/Discoverability.tsx';
import { AppError } from '#src/lib/appError.ts';
import type { Discoverability as Setting } from '#src/store/actions.ts';
import { createWorld } from '../support/app.tsx';

function shown(setting: Setting = { found_by: 'both', shows_email: false }) {
  const world = createWorld();
  world.actions.loadDiscoverability.mockResolvedValue(setting);
  return { ...world, user: world.show(<Discoverability id="found" />) };
}

const card = () => within(screen.getByRole('region', { name: 'What others can find' }));

describe('what others can find', () => {
  it.each([
    ['both', 'Others find you by any part of your username, or by your whole email.'],
    ['name', 'Others find you by any part of your username.'],
    ['email', 'Only those find you who type your whole email.'],
    ['none', 'No search finds you. You can still ask others to be your contacts.'],
  ] as const)('is said in a sentence: %s', async (found_by, sentence) => {
    shown({ found_by, shows_email: false });
    expect(await screen.findByText(sentence)).toBeVisible();
    expect(card().getAllByRole('button', { pressed: true })).toHaveLength(1);
  });

  it('is changed by choosing, and said anew at once', async () => {
    const { actions, user } = shown();
    await user.click(await screen.findByRole('button', { name: 'Email' }));
    expect(actions.setDiscoverability).toHaveBeenCalledExactlyOnceWith({
      found_by: 'email',
      shows_email: false,
    });
    expect(screen.getByRole('status')).toHaveTextContent('Only those find you who type your whole email.');
  });

  it('includes the email once it is switched on', async () => {
    const { actions, user } = shown({ found_by: 'name', shows_email: false });
    const toggle = await screen.findByRole('switch', { name: 'Show email' });
    expect(toggle).toHaveAccessibleDescription(/^Whoever finds you sees only the first letter/);
    await user.click(toggle);
    expect(actions.setDiscoverability).toHaveBeenCalledExactlyOnceWith({
      found_by: 'name',
      shows_email: true,
    });
    expect(toggle).toHaveAccessibleDescription('Whoever finds you sees your email.');
  });

  it('is as it was where the relay has not taken the change, and says so', async () => {
    const { actions, user } = shown();
    actions.setDiscoverability.mockRejectedValue(new AppError('network', 'No connection.'));
    await user.click(await screen.findByRole('button', { name: 'Nothing' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('No connection.');
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Both' })).toHaveAttribute('aria-pressed', 'true'),
    );
  });

  it('says when it can not be loaded', async () => {
    const world = createWorld();
    world.actions.loadDiscoverability.mockRejectedValue(new Error('boom'));
    world.show(<Discoverability id="found" />);
    expect(await screen.findByText('This could not be loaded or changed. Please try again.')).toBeVisible();
    expect(screen.queryByRole('switch')).toBeNull();
  });
});
