import { setTimeout as delay } from 'node:timers/promises';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Suspense } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chunk, failureLasts } from '#src/ui/chunk.tsx';
import { PartBoundary } from '#src/ui/PartBoundary.tsx';

const module = { Greeting: ({ name }: { name: string }) => <p>Hello {name}</p> };
const waiting = <p>Loading...</p>;

describe('a chunk', () => {
  it('shows the fallback until it is there', async () => {
    let arrive: (there: typeof module) => void = () => undefined;
    const asked = new Promise<typeof module>((resolve) => {
      arrive = resolve;
    });
    const Greeting = chunk(() => asked).component((it) => it.Greeting);
    render(
      <Suspense fallback={waiting}>
        <Greeting name="Anna" />
      </Suspense>,
    );
    expect(screen.getByText('Loading...')).toBeVisible();
    arrive(module);
    expect(await screen.findByText('Hello Anna')).toBeVisible();
    expect(screen.queryByText('Loading...')).toBeNull();
  });

  it('is drawn at once where it has been loaded before', async () => {
    const greetings = chunk(async () => module);
    const Greeting = greetings.component((it) => it.Greeting);
    await greetings.load();
    render(
      <Suspense fallback={waiting}>
        <Greeting name="Anna" />
      </Suspense>,
    );
    expect(screen.getByText('Hello Anna')).toBeVisible();
  });

  describe('whose load failed', () => {
    beforeEach(() => {
      // React prints what a boundary has caught.
      vi.spyOn(console, 'error').mockImplementation(() => undefined);
    });
    afterEach(() => vi.restoreAllMocks());

    it('is loaded once, reported to the boundary, and loaded again on Try again', async () => {
      const importIt = vi.fn<() => Promise<typeof module>>().mockRejectedValueOnce(new TypeError('offline'));
      const Greeting = chunk(importIt).component((it) => it.Greeting);
      render(
        <PartBoundary part="chat">
          <Suspense fallback={waiting}>
            <Greeting name="Anna" />
          </Suspense>
        </PartBoundary>,
      );
      expect(await screen.findByRole('alert')).toBeVisible();
      expect(importIt).toHaveBeenCalledOnce();

      importIt.mockResolvedValue(module);
      await delay(failureLasts);
      await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
      expect(await screen.findByText('Hello Anna')).toBeVisible();
      expect(importIt).toHaveBeenCalledTimes(2);
    });
  });
});
