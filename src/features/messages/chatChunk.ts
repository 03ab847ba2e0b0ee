import { chunk } from '../../ui/chunk.tsx';

/** An open chat comes after the list, which is what one sees first. */
export const chatChunk = chunk(() => import('./Chat.tsx'));
