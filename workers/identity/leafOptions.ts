import type { LeafOptions } from '@sinetti/crypto-core';
import { GROUP_BINDING_EXTENSION, MESSAGE_TIMER_EXTENSION } from '@sinetti/crypto-core/account';

/** Capabilities of each leaf of this client: without the binding of groups it could be in none, and without the timer none has one. */
export const leafOptions: LeafOptions = {
  capabilities: { extensions: [GROUP_BINDING_EXTENSION, MESSAGE_TIMER_EXTENSION] },
};
