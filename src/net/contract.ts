/** The only door to the relay's contract: it is loaded after zod has been told not to generate code. */
import '../lib/zodConfig.ts';

export * from '@sinetti/relay/contract';
