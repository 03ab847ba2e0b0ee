/** The compiled program of SQLite's thread: Node starts a thread from a file of JavaScript. */
export const threadEntry = new URL('thread.js', import.meta.url);
