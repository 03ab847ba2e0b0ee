/** "Last seen" is kept no finer than this (milliseconds): it is a write on a read path, and nobody needs it to the second. */
export const lastSeenResolution = 5 * 60 * 1000;
