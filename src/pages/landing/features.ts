import { Accessibility, Download, type LucideIcon, Network, Scale, Stamp, Zap } from 'lucide-react';

export interface Feature {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text: string;
}

export const features: readonly Feature[] = [
  {
    icon: Stamp,
    title: 'End-to-end encryption',
    text: 'Every conversation runs on Messaging Layer Security (RFC 9420), with a hybrid key exchange of X25519 and ML-KEM-768: what is recorded today is meant to stay sealed against a quantum computer.',
  },
  {
    icon: Scale,
    title: 'GDPR',
    text: 'Only the data that delivery needs. No trackers, no advertising, no requests to third parties. After an account is deleted, its personal data is gone or anonymised within 30 days.',
  },
  {
    icon: Zap,
    title: 'Real-time messaging',
    text: 'Messages and presence arrive at once. If the live connection drops, sending goes on without it, and what could not be sent waits sealed in your browser.',
  },
  {
    icon: Network,
    title: 'Scalable infrastructure',
    text: 'The relay only orders sealed messages and passes them on. The demanding work happens in the browsers, so one small server goes a long way.',
  },
  {
    icon: Accessibility,
    title: 'User-friendly interface',
    text: 'Nothing to install and nothing to configure. On a phone or a wide screen, in light or dark, by keyboard or with a screen reader.',
  },
  {
    icon: Download,
    title: 'Data portability',
    text: 'Your data is yours. You have the right to a copy in a machine-readable format, and requests are answered within 30 days.',
  },
];

export const badges: readonly { readonly title: string; readonly text: string }[] = [
  { title: 'RFC 9420', text: 'Messaging Layer Security' },
  { title: 'X-Wing', text: 'Post-quantum hybrid' },
  { title: 'GDPR', text: 'Data minimised by design' },
  { title: 'MIT', text: 'Open source' },
];
