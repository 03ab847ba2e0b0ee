import { exportSecret, type Group, wipe } from '@sinetti/crypto-core';

/** Runs with a key of 32 bytes that is exported from the group's epoch under a label, for the group id, and wipes it. */
export function withExportedKey<T>(group: Group, label: string, run: (key: Uint8Array) => T): T {
  const key = exportSecret(group, label, group.context.groupId, 32);
  try {
    return run(key);
  } finally {
    wipe(key);
  }
}
