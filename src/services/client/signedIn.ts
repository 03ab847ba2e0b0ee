/** Half of the client's code, of no use to a visitor: loaded at once, as one file, for a session. */
export { createRealtime } from '../../net/mqtt.ts';
export { createPresence } from '../../net/presence.ts';
export { createMessenger } from './messenger.ts';
