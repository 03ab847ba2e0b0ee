import { statfs } from 'node:fs/promises';

/** Returns the bytes of the disk that a folder is on, and those of them that the relay may still write. */
export async function diskSpace(folder: string): Promise<{ readonly free: number; readonly whole: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, whole: blocks * bsize };
}
