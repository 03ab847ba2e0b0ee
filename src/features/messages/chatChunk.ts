import { chunk } from '../../ui/chunk.tsx';

/** The code of an open chat: it loads after the list, which one sees first. */
export const chatChunk = chunk(() => import('./Chat.tsx'));
