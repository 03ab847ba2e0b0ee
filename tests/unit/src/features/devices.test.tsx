import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { DevicesCard } from '#src/features/devices/DevicesCard.tsx';
import { NewDeviceNotice } from '#src/features/devices/NewDeviceNotice.tsx';
import { AppError } from '#src/lib/appError.ts';
import { devicesAtom, newDevicesAtom, type OwnDevice } from '#src/store/devices.ts';
import { profileSectionAtom } from '#src/store/profileSection.ts';
import { createWorld } from '../support/app.tsx';

const laptop: OwnDevice = {
  id: 'laptop',
  name: 'Firefox on Linux',
  createdAt: '2026-03-01T12:00:00.000Z',
  lastSeenAt: '2026-03-05T12:00:00.000Z',
  isThisOne: true,
};
const phone: OwnDevice = { ...laptop, id: 'phone', name: 'Chrome on Android', isThisOne: false };

function worldWith(devices: readonly OwnDevice[] | null) {
  const world = createWorld();
  world.store.set(devicesAtom, () => devices);
  return world;
}

describe('the list of devices', () => {
  it('names each, and marks this one', () => {
    worldWith([laptop, phone]).show(<DevicesCard />);
    const rows = within(screen.getByRole('list', { name: 'Your devices' })).getAllByRole('listitem');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toHaveTextContent(/Firefox on Linux.*This device.*Signed in since March 1, 2026/);
    expect(rows[1]).toHaveTextContent(/Chrome on Android.*Signed in since March 1, 2026 · Last seen/);
    expect(rows[1]).not.toHaveTextContent('This device');
    expect(within(rows[0]!).queryByRole('button', { name: /Remove/ })).toBeNull();
  });

  it('says that it loads, and what keeps it from loading', async () => {
    const { actions, show, store } = worldWith(null);
    actions.loadDevices.mockRejectedValueOnce(new AppError('unreachable', 'No connection.'));
    const user = show(<DevicesCard />);
    expect(screen.getByText('Loading your devices…')).toBeVisible();
    expect(await screen.findByRole('alert')).toHaveTextContent('No connection.');
    actions.loadDevices.mockImplementation(async () => store.set(devicesAtom, () => [laptop]));
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Firefox on Linux')).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('removes a device after asking', async () => {
    const { actions, show, toasts } = worldWith([laptop, phone]);
    const user = show(<DevicesCard />);
    await user.click(screen.getByRole('button', { name: 'Remove Chrome on Android' }));
    const dialog = await screen.findByRole('alertdialog', { name: 'Remove Chrome on Android?' });
    expect(dialog).toHaveTextContent(/signed out at once/);
    expect(actions.revokeDevice).not.toHaveBeenCalled();
    await user.click(within(dialog).getByRole('button', { name: 'Remove device' }));
    expect(actions.revokeDevice).toHaveBeenCalledWith('phone');
    await waitFor(() => expect(toasts()).toEqual(['success: Chrome on Android was removed']));
  });

  it('says when a device could not be removed', async () => {
    const { actions, show, toasts } = worldWith([laptop, phone]);
    actions.revokeDevice.mockRejectedValue(new AppError('unreachable', 'No connection.'));
    const user = show(<DevicesCard />);
    await user.click(screen.getByRole('button', { name: 'Remove Chrome on Android' }));
    await user.click(await screen.findByRole('button', { name: 'Remove device' }));
    await waitFor(() => expect(toasts()).toEqual(['error: No connection.']));
  });

  it('has log-ins without a device below it, each with a way to end it, and mostly none', async () => {
    const { actions, show, toasts } = worldWith([laptop]);
    actions.updateSessions.mockResolvedValueOnce([{ id: 'loose', createdAt: '2026-03-05T12:00:00.000Z' }]);
    const user = show(<DevicesCard />);
    const list = await screen.findByRole('list', { name: 'Log-ins without a device' });
    expect(list).toHaveTextContent(/Since .*If this was not you, end it and change your password/);
    await user.click(within(list).getByRole('button', { name: /^End the log-in of / }));
    expect(actions.updateSessions).toHaveBeenLastCalledWith('loose');
    await waitFor(() => expect(list).not.toBeInTheDocument());
    expect(toasts()).toEqual(['success: The log-in was ended']);
  });

  it('keeps a log-in without a device that could not be ended, and says so', async () => {
    const { actions, show, toasts } = worldWith([laptop]);
    actions.updateSessions
      .mockResolvedValueOnce([{ id: 'loose', createdAt: '2026-03-05T12:00:00.000Z' }])
      .mockRejectedValue(new AppError('unreachable', 'No connection.'));
    const user = show(<DevicesCard />);
    await user.click(await screen.findByRole('button', { name: /^End the log-in of / }));
    await waitFor(() => expect(toasts()).toEqual(['error: No connection.']));
    expect(screen.getByRole('list', { name: 'Log-ins without a device' })).toBeVisible();
  });

  it('says below it when log-ins without a device could not be loaded', async () => {
    const { actions, show } = worldWith([laptop]);
    actions.updateSessions.mockRejectedValue(new AppError('unreachable', 'No connection.'));
    show(<DevicesCard />);
    expect(await screen.findByText('No connection.')).toBeVisible();
  });

  it('renames this device', async () => {
    const { actions, show } = worldWith([laptop, phone]);
    const user = show(<DevicesCard />);
    await user.click(screen.getByRole('button', { name: 'Rename' }));
    const field = screen.getByLabelText('Name of this device');
    expect(field).toHaveFocus();
    await user.clear(field);
    await user.type(field, 'Kitchen{Enter}');
    expect(actions.renameDevice).toHaveBeenCalledWith('Kitchen');
    await waitFor(() => expect(screen.queryByLabelText('Name of this device')).toBeNull());
  });

  it('keeps what was typed when the name could not be saved, and saves no blank one', async () => {
    const { actions, show, toasts } = worldWith([laptop]);
    actions.renameDevice.mockRejectedValue(new AppError('unreachable', 'No connection.'));
    const user = show(<DevicesCard />);
    await user.click(screen.getByRole('button', { name: 'Rename' }));
    const field = screen.getByLabelText('Name of this device');
    await user.clear(field);
    await user.type(field, '   {Enter}');
    expect(actions.renameDevice).not.toHaveBeenCalled();
    await user.type(field, 'Kitchen{Enter}');
    await waitFor(() => expect(toasts()).toEqual(['error: No connection.']));
    expect(field).toHaveValue('   Kitchen');
  });

  it('shows only the visible characters of a name that tries to pass for another', () => {
    worldWith([{ ...laptop, name: '\u202Exofer\u200B' }]).show(<DevicesCard />);
    expect(screen.getByText('xofer').tagName).toBe('BDI');
  });
});

describe('the notice of a new device', () => {
  it('is not there without one', () => {
    createWorld().show(<NewDeviceNotice onReview={() => undefined} />);
    expect(screen.queryByRole('button')).toBeNull();
  });

  it('names the device, leads to the list, and goes when the person dismisses it', async () => {
    const { actions, show, store } = createWorld();
    store.set(newDevicesAtom, () => [phone, { ...phone, id: 'tablet', name: 'Safari on iPad' }]);
    const review = vi.fn<() => void>();
    const user = show(<NewDeviceNotice onReview={review} />);
    expect(screen.getByText(/New device signed in/)).toHaveTextContent(
      'New device signed in: Chrome on Android, Safari on iPad.',
    );
    await user.click(screen.getByRole('button', { name: 'Review devices' }));
    expect(review).toHaveBeenCalledOnce();
    expect(store.get(profileSectionAtom)).toBe('devices');
    await user.click(screen.getByRole('button', { name: 'It was me' }));
    expect(actions.acknowledgeDevices).toHaveBeenCalledOnce();
  });
});
