import { onDemand } from '../../ui/onDemand.tsx';
import type { FilesContentProps } from './FilesContent.tsx';

/** The files of a message: their code comes with the first message that has some. */
export const MessageFiles = onDemand<FilesContentProps>(
  async () => (await import('./FilesContent.tsx')).FilesContent,
);
