import type { LeafOptions } from '@sinetti/crypto-core';
import { GROUP_BINDING_EXTENSION, MESSAGE_TIMER_EXTENSION } from '@sinetti/crypto-core/account';
import { PINNED_MESSAGES_EXTENSION } from '@sinetti/crypto-core/content';

/**
 * Capabilities of each leaf of this client: without the binding of groups it could be in none, and without the others none has a
 * timer, or pins messages.
 */
export const leafOptions: LeafOptions = {
  capabilities: { extensions: [GROUP_BINDING_EXTENSION, MESSAGE_TIMER_EXTENSION, PINNED_MESSAGES_EXTENSION] },
};
