import { act, screen, waitFor, within } from '@testing-library/react';
import { decodeQR } from 'qr/decode.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdentityNotice } from '#src/features/trust/IdentityNotice.tsx';
import { useIdentityLines } from '#src/features/trust/useIdentityLines.tsx';
import { Verification, VerifiedMark } from '#src/features/trust/Verification.tsx';
import { AppError } from '#src/lib/appError.ts';
import { type ContactTrust, trustAtom } from '#src/store/trust.ts';
import { createWorld, veikko } from '../support/app.tsx';

const current = '12345'.repeat(12);
const offered = '67890'.repeat(12);

function trust(change: Partial<ContactTrust> = {}): ContactTrust {
  return { userId: veikko.id, verifiedAt: null, keyOffered: false, name: null, changedAt: [], ...change };
}

function worldWith(...known: ContactTrust[]) {
  const world = createWorld();
  world.store.set(trustAtom, () => new Map(known.map((one) => [one.userId, one])));
  return world;
}

const verification = <Verification userId={veikko.id} name="veikko" />;

/** The code as a camera sees it: every module eight pixels wide. */
function pictureOf(svg: SVGElement): { data: Uint8Array; width: number; height: number } {
  const scale = 8;
  const size = Number(svg.getAttribute('viewBox')?.split(' ')[2]) * scale;
  const data = new Uint8Array(size * size * 4).fill(255);
  const path = svg.querySelector('path')?.getAttribute('d') ?? '';
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < scale; row++) {
      const start = ((Number(y) * scale + row) * size + Number(x) * scale) * 4;
      for (let i = 0; i < scale * 4; i++) if (i % 4 !== 3) data[start + i] = 0;
    }
  }
  return { data, width: size, height: size };
}

describe('the safety number', () => {
  it('is shown in groups of five digits, and as a QR code of the same digits', async () => {
    const { actions, show } = worldWith(trust());
    const user = show(verification);
    await user.click(screen.getByRole('button', { name: 'Verify veikko' }));
    const dialog = await screen.findByRole('dialog', { name: 'Safety number with veikko' });
    const list = await within(dialog).findByRole('list', { name: 'Safety number' });
    const digits = within(list)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent);
    expect(digits).toEqual(Array.from({ length: 12 }, () => '12345'));
    expect(within(dialog).getByText('QR code of the safety number')).toBeInTheDocument();
    const svg = [...dialog.querySelectorAll('svg')].find((one) => one.querySelector('path[d^="M4 4h1"]'));
    expect(decodeQR(pictureOf(svg!))).toBe(current);
    expect(actions.loadSafetyNumbers).toHaveBeenCalledWith(veikko.id);
  });

  it('is marked as verified, by the number that was on screen', async () => {
    const { actions, show, store } = worldWith(trust());
    actions.setVerified.mockImplementation(async () =>
      store.set(trustAtom, () => new Map([[veikko.id, trust({ verifiedAt: '2026-03-01T12:00:00.000Z' })]])),
    );
    const user = show(verification);
    await user.click(screen.getByRole('button', { name: 'Verify veikko' }));
    await user.click(await screen.findByRole('button', { name: 'Mark as verified' }));
    expect(actions.setVerified).toHaveBeenCalledWith(veikko.id, current, true);
    expect(await screen.findByText(/You have verified/)).toHaveTextContent(
      'You have verified veikko. Verified on March 1, 2026',
    );
    await user.click(screen.getByRole('button', { name: 'Remove the mark' }));
    expect(actions.setVerified).toHaveBeenLastCalledWith(veikko.id, current, false);
  });

  it('says why it could not be loaded, and can be loaded again', async () => {
    const { actions, show } = worldWith();
    actions.loadSafetyNumbers.mockRejectedValueOnce(new AppError('not-found', 'No device yet.'));
    const user = show(verification);
    await user.click(screen.getByRole('button', { name: 'Verify veikko' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('No device yet.');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('button', { name: 'Mark as verified' })).toBeVisible();
  });

  it('says when the mark could not be kept', async () => {
    const { actions, show, toasts } = worldWith(trust());
    actions.setVerified.mockRejectedValue(new AppError('unreachable', 'No connection.'));
    const user = show(verification);
    await user.click(screen.getByRole('button', { name: 'Verify veikko' }));
    await user.click(await screen.findByRole('button', { name: 'Mark as verified' }));
    await waitFor(() => expect(toasts()).toEqual(['error: No connection.']));
    expect(screen.getByRole('button', { name: 'Mark as verified' })).toBeEnabled();
  });
});

describe('scanning a safety number', () => {
  const getUserMedia = vi.fn<() => Promise<MediaStream>>();
  beforeEach(() => {
    vi.stubGlobal('navigator', Object.assign(Object.create(navigator), { mediaDevices: { getUserMedia } }));
  });
  afterEach(() => void vi.unstubAllGlobals());

  it('leads back to the digits when there is no camera', async () => {
    getUserMedia.mockRejectedValue(new DOMException('', 'NotAllowedError'));
    const user = worldWith(trust()).show(verification);
    await user.click(screen.getByRole('button', { name: 'Verify veikko' }));
    await user.click(await screen.findByRole('button', { name: 'Scan the other code' }));
    expect(await screen.findByText(/The camera is not available/)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Mark as verified' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Stop scanning' }));
    expect(screen.getByRole('list', { name: 'Safety number' })).toBeVisible();
  });
});

describe('the certainty of an identity', () => {
  it.each([
    [undefined, null],
    [trust(), null],
    [trust({ verifiedAt: '2026-03-01T12:00:00.000Z' }), 'Verified'],
    [trust({ keyOffered: true }), 'Security key changed'],
    [trust({ verifiedAt: '2026-03-01T12:00:00.000Z', keyOffered: true }), 'Security key changed'],
  ])('of %j is marked beside the name: %s', (known, mark) => {
    const world = known === undefined ? worldWith() : worldWith(known);
    world.show(<VerifiedMark userId={veikko.id} />);
    expect(screen.queryByText(/Verified|changed/)?.textContent ?? null).toBe(mark);
  });

  it.each([
    [trust(), 'Verify veikko'],
    [trust({ verifiedAt: '2026-03-01T12:00:00.000Z' }), 'Verified'],
    [trust({ keyOffered: true }), 'Security key changed'],
  ])('%j is said by the button above the chat: %s', (known, name) => {
    worldWith(known).show(verification);
    expect(screen.getByRole('button', { name })).toBeVisible();
  });
});

describe('a security key that changed', () => {
  const notice = <IdentityNotice userId={veikko.id} name="veikko" />;

  it('is not mentioned before it has changed', () => {
    worldWith(trust()).show(notice);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('has a calm notice that messages wait, and can be accepted', async () => {
    const { actions, show } = worldWith(trust({ keyOffered: true }));
    actions.loadSafetyNumbers.mockResolvedValue({ current, offered });
    const user = show(notice);
    expect(screen.getByRole('alert')).toHaveTextContent(/Is this still veikko\?.*Messages to veikko wait/);
    await user.click(screen.getByRole('button', { name: 'Accept the new key' }));
    expect(actions.acceptIdentity).toHaveBeenCalledWith(veikko.id, offered);
  });

  it('is compared by the new number, and can be refused', async () => {
    const { actions, show, store } = worldWith(trust({ keyOffered: true }));
    actions.loadSafetyNumbers.mockResolvedValueOnce({ current, offered });
    actions.refuseIdentity.mockImplementation(async () =>
      store.set(trustAtom, () => new Map([[veikko.id, trust()]])),
    );
    const user = show(notice);
    await user.click(screen.getByRole('button', { name: 'Compare again' }));
    const dialog = await screen.findByRole('dialog');
    expect((await within(dialog).findAllByText('67890')).length).toBe(12);
    expect(within(dialog).getByText('The new safety number')).toBeVisible();
    expect(within(dialog).queryByRole('button', { name: 'Mark as verified' })).toBeNull();
    await user.click(within(dialog).getByRole('button', { name: 'Keep the key so far' }));
    expect(actions.refuseIdentity).toHaveBeenCalledWith(veikko.id, offered);
    expect((await within(dialog).findAllByText('12345')).length).toBe(12);
  });

  it('says when the decision could not be kept', async () => {
    const { actions, show, toasts } = worldWith(trust({ keyOffered: true }));
    actions.loadSafetyNumbers.mockResolvedValue({ current, offered });
    actions.acceptIdentity.mockRejectedValue(new AppError('usage', 'Another key came meanwhile.'));
    const user = show(notice);
    await user.click(screen.getByRole('button', { name: 'Accept the new key' }));
    await waitFor(() => expect(toasts()).toEqual(['error: Another key came meanwhile.']));
  });

  it('leaves a line in the chat for good', () => {
    function Lines() {
      return (
        <ul>
          {useIdentityLines(veikko.id, 'veikko').map(({ id, text }) => (
            <li key={id}>{text}</li>
          ))}
        </ul>
      );
    }
    const { show, store } = worldWith(trust());
    show(<Lines />);
    expect(screen.queryByRole('listitem')).toBeNull();
    const changedAt = ['2026-03-01T12:00:00.000Z', '2026-04-01T12:00:00.000Z'];
    act(() => store.set(trustAtom, () => new Map([[veikko.id, trust({ changedAt })]])));
    expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      "veikko's security key changed on March 1, 2026.",
      "veikko's security key changed on April 1, 2026.",
    ]);
  });
});
