import { createStore } from 'jotai';
import { describe, expect, it } from 'vitest';
import { bannerAtom } from '#src/store/banners.ts';
import { offlineAtom, relayTroubleAtom } from '#src/store/connection.ts';
import { newDevicesAtom } from '#src/store/devices.ts';
import { recoveryKeyAtom, recoveryOfferDismissedAtom } from '#src/store/recovery.ts';
import { connectionBannerAtom } from '#src/store/session.ts';
import { readyUpdateAtom } from '#src/store/update.ts';

describe('the banner at the head of the dashboard', () => {
  it('is the most urgent of what there is to say, and the next when that has gone', () => {
    const store = createStore();
    expect(store.get(bannerAtom)).toBeNull();
    const device = { id: 'd', name: 'Firefox', createdAt: '', lastSeenAt: '', isThisOne: false };
    store.set(recoveryKeyAtom, () => 'none' as const);
    store.set(recoveryOfferDismissedAtom, () => false);
    store.set(readyUpdateAtom, { apply: () => undefined });
    store.set(newDevicesAtom, () => [device]);
    store.set(offlineAtom, true);
    store.set(relayTroubleAtom, 'silent');
    store.set(connectionBannerAtom, true);

    expect(store.get(bannerAtom)).toBe('connection-error');
    store.set(connectionBannerAtom, false);
    expect(store.get(bannerAtom)).toBe('offline');
    store.set(offlineAtom, false);
    expect(store.get(bannerAtom)).toBe('offline');
    store.set(relayTroubleAtom, null);
    expect(store.get(bannerAtom)).toBe('new-device');
    store.set(newDevicesAtom, () => []);
    expect(store.get(bannerAtom)).toBe('update');
    store.set(readyUpdateAtom, null);
    expect(store.get(bannerAtom)).toBe('recovery-key');
    store.set(recoveryOfferDismissedAtom, () => true);
    expect(store.get(bannerAtom)).toBeNull();
  });
});
