import { Accessibility, Download, type LucideIcon, Network, Scale, Stamp, Zap } from 'lucide-react';
import type { MessageId } from '../../i18n/catalogue.ts';

export interface Feature {
  readonly icon: LucideIcon;
  readonly title: MessageId;
  readonly text: MessageId;
}

export const features: readonly Feature[] = [
  { icon: Stamp, title: 'landing.features.encryption', text: 'landing.features.encryptionText' },
  { icon: Scale, title: 'landing.features.gdpr', text: 'landing.features.gdprText' },
  { icon: Zap, title: 'landing.features.realtime', text: 'landing.features.realtimeText' },
  { icon: Network, title: 'landing.features.scalable', text: 'landing.features.scalableText' },
  { icon: Accessibility, title: 'landing.features.friendly', text: 'landing.features.friendlyText' },
  { icon: Download, title: 'landing.features.portability', text: 'landing.features.portabilityText' },
];

export const steps: readonly Omit<Feature, 'icon'>[] = [
  { title: 'landing.how.keys', text: 'landing.how.keysText' },
  { title: 'landing.how.seal', text: 'landing.how.sealText' },
  { title: 'landing.how.carry', text: 'landing.how.carryText' },
];

export const benefits: readonly Omit<Feature, 'icon'>[] = [
  { title: 'landing.benefits.private', text: 'landing.benefits.privateText' },
  { title: 'landing.benefits.stolen', text: 'landing.benefits.stolenText' },
  { title: 'landing.benefits.devices', text: 'landing.benefits.devicesText' },
  { title: 'landing.benefits.plain', text: 'landing.benefits.plainText' },
];

/** Properties of the software itself, whoever operates it. The names are the same in every language. */
export const badges: readonly { readonly name: string; readonly text: MessageId }[] = [
  { name: 'RFC 9420', text: 'landing.badges.mls' },
  { name: 'X-Wing', text: 'landing.badges.xwing' },
  { name: 'GDPR', text: 'landing.badges.gdpr' },
  { name: 'MIT', text: 'landing.badges.mit' },
];
