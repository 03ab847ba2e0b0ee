import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PartBoundary } from '#src/ui/PartBoundary.tsx';

const secret = 'the pier at nine, bring aino@example.fi';

let broken = true;
function Chat() {
  if (broken) throw new TypeError(`cannot draw "${secret}"`);
  return <p>Drawn</p>;
}

function screenWithChat(shows: string | null = null) {
  return (
    <>
      <p>The rest</p>
      <PartBoundary part="chat" shows={shows}>
        <Chat />
      </PartBoundary>
    </>
  );
}

describe('a part of the screen that fails', () => {
  beforeEach(() => {
    broken = true;
    // React says it too.
    vi.spyOn(console, 'error').mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('leaves the rest on screen, and can be tried again', async () => {
    render(screenWithChat());
    const user = userEvent.setup();
    expect(screen.getByText('The rest')).toBeVisible();
    expect(screen.getByRole('alert')).toHaveTextContent('This part could not be shown');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(screen.getByRole('alert')).toBeVisible();
    broken = false;
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(screen.getByText('Drawn')).toBeVisible();
  });

  it('is tried again when it shows something else', () => {
    const { rerender } = render(screenWithChat('aino'));
    broken = false;
    rerender(screenWithChat('aino'));
    expect(screen.getByRole('alert')).toBeVisible();
    rerender(screenWithChat('veikko'));
    expect(screen.getByText('Drawn')).toBeVisible();
  });

  it('offers a report without anything that people wrote', async () => {
    const user = userEvent.setup();
    render(screenWithChat());
    await user.click(screen.getByRole('button', { name: 'Report' }));
    expect(screen.getByText(/^Version: /)).toHaveTextContent(/Part: chat Error: TypeError, internal/);
    expect(screen.getByRole('link')).toHaveAttribute('href', 'mailto:support@sinetti.example');
    await user.click(screen.getByRole('button', { name: 'Copy report' }));
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeVisible();
    const copied = await navigator.clipboard.readText();
    expect(copied).toMatch(/^Version: /);
    for (const text of [copied, document.body.textContent]) expect(text).not.toMatch(/pier|aino/);
  });
});
