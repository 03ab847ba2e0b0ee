import { readFileSync } from 'node:fs';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { showStoragePage } from '#workers/frame/storagePage.ts';

const html = readFileSync('workers/frame/storage.html', 'utf8');
const body = /<body>([\s\S]*)<script/.exec(html)?.[1] ?? '';

const persist = vi.fn<() => Promise<boolean>>();
const persisted = vi.fn<() => Promise<boolean>>();
const close = vi.fn<() => void>();
const show = (look = '') => showStoragePage({ look, storage: { persist, persisted }, close });
const press = (name: string) => userEvent.setup().click(screen.getByRole('button', { name }));

beforeEach(() => {
  vi.resetAllMocks();
  persisted.mockResolvedValue(false);
  document.body.innerHTML = body;
});

// Other files draw into the same document.
afterEach(() => {
  document.body.replaceChildren();
  delete document.documentElement.dataset.theme;
  document.documentElement.lang = '';
});

describe('the page for storage', () => {
  it('asks the browser when the person presses its one button, and says that it agreed', async () => {
    persist.mockResolvedValue(true);
    await show();
    expect(persist).not.toHaveBeenCalled();
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
    await press('Keep the data');
    expect(screen.getByRole('status')).toHaveTextContent('The browser keeps the data until you clear it.');
    await press('Close this page');
    expect(persist).toHaveBeenCalledOnce();
    expect(close).toHaveBeenCalledOnce();
  });

  it('says that the browser refused, and asks again', async () => {
    persist.mockResolvedValueOnce(false).mockRejectedValueOnce(new TypeError('no storage'));
    await show();
    await press('Keep the data');
    expect(screen.getByRole('status')).toHaveTextContent(/^The browser did not agree\./);
    await press('Keep the data');
    await waitFor(() =>
      expect(screen.getByRole('status')).toHaveTextContent("The browser can't be asked for this."),
    );
    expect(close).not.toHaveBeenCalled();
  });

  it('asks nothing where the data is kept already', async () => {
    persisted.mockResolvedValue(true);
    await show();
    expect(screen.getByRole('status')).toHaveTextContent('The browser keeps the data until you clear it.');
    await press('Close this page');
    expect(persist).not.toHaveBeenCalled();
    expect(close).toHaveBeenCalledOnce();
  });

  it('still asks where the browser does not say how it is', async () => {
    persisted.mockRejectedValue(new TypeError('opaque origin'));
    await show();
    expect(screen.getByRole('button', { name: 'Keep the data' })).toBeVisible();
  });

  it('looks and speaks as the app does that led to it', async () => {
    await show('#language=fi&theme=dark');
    expect(screen.getByRole('heading', { name: 'Säilytä tämän selaimen tiedot' })).toBeVisible();
    expect(document.documentElement).toHaveAttribute('lang', 'fi');
    expect(document.documentElement).toHaveAttribute('data-theme', 'dark');
  });

  it('takes nothing else from its address', async () => {
    await show('#language=<img src=x>&theme=system&title=Log in');
    expect(screen.getByRole('heading', { name: 'Keep the data of this browser' })).toBeVisible();
    expect(document.documentElement).toHaveAttribute('lang', 'en');
    expect(document.documentElement).not.toHaveAttribute('data-theme');
  });

  it('has all its words in both languages', () => {
    const names = [...document.querySelectorAll('template')].map(({ content }) =>
      [...content.querySelectorAll('[data-text]')].map((word) => word.getAttribute('data-text')),
    );
    expect(names).toHaveLength(2);
    expect(names[0]).toEqual(names[1]);
    expect(new Set(names[0]).size).toBe(8);
  });
});
