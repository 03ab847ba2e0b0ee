import path from 'node:path';

/** The program of the thread, compiled as this file is. */
export const threadEntry = path.join(import.meta.dirname, 'thread.js');
