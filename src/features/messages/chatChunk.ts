import { withTexts } from '../../i18n/i18n.ts';
import { chunk } from '../../ui/chunk.tsx';

/** The code and the texts of an open chat: they load after the list, which one sees first. */
export const chatChunk = chunk(() => withTexts('tabs', import('./Chat.tsx')));
