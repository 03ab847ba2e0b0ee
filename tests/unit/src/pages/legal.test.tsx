import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../support/app.tsx';
import { openApp } from '../support/openApp.tsx';

async function read(path: string, title: string): Promise<HTMLElement> {
  openApp(createWorld({ signedIn: false }).store, path);
  await screen.findByRole('heading', { level: 1, name: title });
  return screen.getByRole('main');
}

describe('the privacy policy', () => {
  it('names the times of deletion and of answers to requests, and the minimum age', async () => {
    const policy = await read('/privacy-policy', 'Privacy Policy');
    expect(policy).toHaveTextContent(
      'After you delete your account, personal data is removed or anonymised within 30 days.',
    );
    expect(policy).toHaveTextContent(/Requests are answered within 30 days/);
    expect(policy).toHaveTextContent('You must be at least 16 years old to use this service.');
  });

  it('links to the operator’s address for privacy', async () => {
    const policy = within(await read('/privacy-policy', 'Privacy Policy'));
    for (const link of policy.getAllByRole('link', { name: 'privacy@sinetti.example' })) {
      expect(link).toHaveAttribute('href', 'mailto:privacy@sinetti.example');
    }
  });
});

describe('the terms of service', () => {
  it('name the minimum age and the governing law', async () => {
    const terms = await read('/terms', 'Terms');
    expect(terms).toHaveTextContent('You must be at least 16 years old.');
    expect(terms).toHaveTextContent('Finnish law governs these terms.');
  });
});

describe('the page about the site', () => {
  it('names the creator, with a link to the contact page', async () => {
    const about = within(await read('/about', 'About'));
    expect(about.getByRole('heading', { name: 'The creator' })).toBeVisible();
    expect(about.getByRole('link', { name: 'contact page' })).toHaveAttribute('href', '/contact');
  });
});
