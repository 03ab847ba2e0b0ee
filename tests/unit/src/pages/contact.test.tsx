import { act, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operator } from '#src/operator/index.ts';
import { ContactPage } from '#src/pages/contact/ContactPage.tsx';
import { validateContact } from '#src/pages/contact/validation.ts';
import { createWorld } from '../support/app.tsx';

const good = { name: 'Aino', email: 'aino@example.fi', subject: 'Hello', message: 'Is anybody there?' };

describe('validateContact', () => {
  it.each([
    ['name', '', 'Name is required'],
    ['name', '  ', 'Name is required'],
    ['name', ' A ', 'Name must be at least 2 characters'],
    ['email', '', 'Email is required'],
    ['email', 'aino', 'Please enter a valid email address'],
    ['email', 'aino@example', 'Please enter a valid email address'],
    ['email', 'aino@exa mple.fi', 'Please enter a valid email address'],
    ['email', 'aino@.fi', 'Please enter a valid email address'],
    ['subject', ' ', 'Subject is required'],
    ['subject', 'Hi ', 'Subject must be at least 3 characters'],
    ['message', '', 'Message is required'],
    ['message', '123456789 ', 'Message must be at least 10 characters'],
  ] as const)('%s %j: %s', (field, value, error) => {
    expect(validateContact({ ...good, [field]: value })).toEqual({ [field]: error });
  });

  it('accepts well-formed input', () => {
    expect(validateContact(good)).toEqual({});
    expect(validateContact({ ...good, email: ' first.last+tag@mail.example.co.uk ' })).toEqual({});
  });
});

describe('the contact page', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  function fill(input: Partial<typeof good>) {
    for (const [name, value] of Object.entries(input)) {
      fireEvent.change(screen.getByRole('textbox', { name: new RegExp(name, 'i') }), { target: { value } });
    }
  }
  const submit = () => fireEvent.click(screen.getByRole('button', { name: 'Send Message' }));

  it('names every wrong field, goes to the first, and forgets an error on edit', () => {
    createWorld({ signedIn: false }).show(<ContactPage />);
    submit();
    for (const field of ['Name', 'Email', 'Subject', 'Message']) {
      expect(screen.getByText(`${field} is required`)).toBeVisible();
    }
    expect(screen.getByRole('textbox', { name: 'Name' })).toHaveFocus();
    expect(screen.getByRole('textbox', { name: 'Name' })).toBeInvalid();
    fill({ name: 'A' });
    expect(screen.queryByText('Name is required')).toBeNull();
    expect(screen.getByText('Email is required')).toBeVisible();
  });

  it('pretends to send for 1.5 seconds, says so, and goes home after 3', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    createWorld({ signedIn: false }).show(<ContactPage />, '/contact');
    fill(good);
    submit();
    expect(screen.getByRole('button', { name: 'Sending...' })).toBeDisabled();
    await act(() => vi.advanceTimersByTimeAsync(1500));
    expect(screen.getByRole('status')).toHaveTextContent('Thank you.');
    await act(() => vi.advanceTimersByTimeAsync(2999));
    expect(screen.getByText('address: /contact')).toBeVisible();
    await act(() => vi.advanceTimersByTimeAsync(1));
    expect(screen.getByText('address: /')).toBeVisible();
    expect(fetched).not.toHaveBeenCalled();
  });

  it('says that something went wrong without a network, and keeps what was written', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    createWorld({ signedIn: false }).show(<ContactPage />);
    fill(good);
    submit();
    await act(() => vi.advanceTimersByTimeAsync(1500));
    expect(screen.getByRole('alert')).toHaveTextContent('Something Went Wrong');
    fireEvent.click(screen.getByRole('button', { name: 'Try Again' }));
    expect(screen.getByRole('textbox', { name: 'Message' })).toHaveValue(good.message);
  });

  it('leads home, to the other pages and to the support address', async () => {
    createWorld({ signedIn: false }).show(<ContactPage />);
    expect(screen.getByRole('link', { name: 'Back to Home' })).toHaveAttribute('href', '/');
    const links = within(screen.getByRole('contentinfo')).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/',
      '/privacy-policy',
      '/terms',
      '/about',
    ]);
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    fill(good);
    submit();
    await act(() => vi.advanceTimersByTimeAsync(1500));
    expect(
      within(screen.getByRole('alert')).getByRole('link', { name: operator.supportEmail! }),
    ).toHaveAttribute('href', `mailto:${operator.supportEmail}`);
  });

  it('shows markup that is typed into it as text', () => {
    createWorld({ signedIn: false }).show(<ContactPage />);
    const markup = '<img src=x onerror=alert(1)>';
    fill({ name: markup, message: markup });
    expect(screen.getByRole('textbox', { name: 'Name' })).toHaveValue(markup);
    expect(document.querySelector('img')).toBeNull();
  });
});
