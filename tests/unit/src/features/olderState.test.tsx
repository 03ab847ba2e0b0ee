import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { OlderStateNotice } from '#src/features/keyRenewal/OlderStateNotice.tsx';
import { devicesAtom } from '#src/store/devices.ts';
import { olderStatesAtom } from '#src/store/keys.ts';
import { createWorld } from '../support/app.tsx';

const at = '2026-03-01T12:00:00.000Z';
const phone = { id: 'phone', name: 'Phone', createdAt: at, lastSeenAt: at, isThisOne: false };

describe('older account data that the relay gives one of the person’s browsers', () => {
  it.each([
    ['here', 'phone', 'given this browser older account data than it had given to Phone before'],
    ['there', 'phone', 'given Phone older account data than it had given to this browser before'],
    ['there', 'gone', 'given a browser that is not among your devices older account data'],
  ] as const)('is said with its browser and what to do: %s, %s', async (place, deviceId, sentence) => {
    const { actions, show, store } = createWorld();
    store.set(devicesAtom, () => [phone]);
    store.set(olderStatesAtom, () => [{ place, deviceId }]);
    const user = show(<OlderStateNotice />);
    const notice = screen.getByRole('region', { name: 'Older account data' });
    expect(notice).toHaveTextContent(sentence);
    expect(notice).toHaveTextContent(/restored from a backup.+safety numbers.+change your password/);
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(actions.acknowledgeOlderStates).toHaveBeenCalledOnce();
  });

  it('is not there otherwise', () => {
    createWorld().show(<OlderStateNotice />);
    expect(screen.queryByRole('region')).toBeNull();
  });
});
