import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Operator } from '#src/operator/index.ts';
import { LandingPage } from '#src/pages/landing/LandingPage.tsx';
import { AboutPage } from '#src/pages/legal/AboutPage.tsx';
import { PrivacyPolicyPage } from '#src/pages/legal/PrivacyPolicyPage.tsx';
import { TermsPage } from '#src/pages/legal/TermsPage.tsx';
import { createWorld } from '../support/app.tsx';

const operator = vi.hoisted(
  (): Operator => ({
    productName: 'Letterbox',
    supportEmail: 'help@letterbox.example',
    privacyEmail: 'privacy@letterbox.example',
    controller: { name: 'Letterbox Oy', address: 'Postikatu 1, 00100 Helsinki', country: 'Finland' },
    governingLaw: { en: 'Swedish law', fi: 'Ruotsin laki' },
    certificates: [{ name: 'ISO/IEC 27001', issuer: 'A registrar' }],
    apiHost: null,
    mqttUrl: null,
  }),
);
vi.mock('#src/operator/index.ts', () => ({ operator, productSlug: () => 'letterbox' }));

describe('pages of an installation with settings of its own', () => {
  it('show the certificates that the operator holds, under the operator’s name for the product', () => {
    createWorld({ signedIn: false }).show(<LandingPage />);
    const badges = within(screen.getByRole('region', { name: 'Built in the open, on open standards' }));
    expect(badges.getAllByRole('listitem').at(-1)).toHaveTextContent(
      /ISO\/IEC 27001.*Certified by A registrar/,
    );
    expect(screen.getByText(/^Letterbox is a web messenger/)).toBeVisible();
    expect(document.title).toBe('Letterbox');
    expect(document.body).not.toHaveTextContent('Sinetti');
  });

  it('name the controller and the address for requests', () => {
    createWorld({ signedIn: false }).show(<PrivacyPolicyPage />);
    expect(screen.getByText(/is Letterbox Oy, Postikatu 1, 00100 Helsinki, Finland\.$/)).toBeVisible();
    for (const link of screen.getAllByRole('link', { name: 'privacy@letterbox.example' })) {
      expect(link).toHaveAttribute('href', 'mailto:privacy@letterbox.example');
    }
    expect(document.body).not.toHaveTextContent('Whoever operates');
  });

  it('name the governing law of the terms and the operator', () => {
    createWorld({ signedIn: false }).show(<TermsPage />);
    expect(screen.getByText(/^Swedish law governs these terms\./)).toBeVisible();
    expect(screen.getByText(/between you and Letterbox Oy/)).toBeVisible();
  });

  it('name the software', () => {
    createWorld({ signedIn: false }).show(<AboutPage />);
    expect(screen.getByText(/^Letterbox runs Sinetti/)).toBeVisible();
  });
});
