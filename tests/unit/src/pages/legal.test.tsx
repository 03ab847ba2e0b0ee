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
  it('says when data is gone, when requests are answered, and how old one must be', async () => {
    const policy = await read('/privacy-policy', 'Privacy Policy');
    expect(policy).toHaveTextContent(
      'After you delete your account, personal data is removed or anonymised within 30 days.',
    );
    expect(policy).toHaveTextContent(/Requests are answered within 30 days/);
    expect(policy).toHaveTextContent('You must be at least 16 years old to use this service.');
  });

  it('says who answers, by the settings of the operator', async () => {
    const policy = within(await read('/privacy-policy', 'Privacy Policy'));
    for (const link of policy.getAllByRole('link', { name: 'privacy@sinetti.example' })) {
      expect(link).toHaveAttribute('href', 'mailto:privacy@sinetti.example');
    }
  });
});

describe('the terms', () => {
  it('say how old one must be, and which law governs them', async () => {
    const terms = await read('/terms', 'Terms');
    expect(terms).toHaveTextContent('You must be at least 16 years old.');
    expect(terms).toHaveTextContent('Finnish law governs these terms.');
  });
});

describe('the page about the site', () => {
  it('says who has made it', async () => {
    const about = within(await read('/about', 'About'));
    expect(about.getByRole('heading', { name: 'The creator' })).toBeVisible();
    expect(about.getByRole('link', { name: 'contact page' })).toHaveAttribute('href', '/contact');
  });
});
