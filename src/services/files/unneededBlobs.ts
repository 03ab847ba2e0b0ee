import * as z from 'zod/mini';
import type { MessageView } from '../../crypto/client.ts';
import { type Blobs, isGoneBlob } from '../../net/blobs.ts';
import type { SessionDeps } from '../core/deps.ts';
import type { Background } from '../core/failures.ts';
import { readLocalEntries } from './localEntries.ts';

/** The start of the name of the local entry of a deletion whose files are to go from the relay. */
const entryPrefix = 'uploaded:';

const Unneeded = z.object({
  conversationId: z.string(),
  blobIds: z.array(z.string()),
});

export interface UnneededBlobsOptions {
  readonly deps: Pick<SessionDeps, 'crypto' | 'log' | 'sessionEvents'>;
  readonly blobs: Pick<Blobs, 'remove'>;
  readonly background: Background;
}

export interface UnneededBlobs {
  /**
   * Notes the files of an own message that is about to be deleted for everybody, while the worker still knows them.
   * @param deletionId message id of the deletion
   */
  note(deletionId: string, message: MessageView): Promise<void>;
  /** Deletes at the relay what was noted, of deletions that the log has by now. */
  remove(): Promise<void>;
}

/**
 * Deletes the files of deleted messages at the relay, which would keep them for months. The log comes first: as long as the
 * deletion waits it may be called off, also where this browser has the message no more.
 */
export function createUnneededBlobs({ background, blobs, deps }: UnneededBlobsOptions): UnneededBlobs {
  const { crypto, sessionEvents } = deps;
  let mayWait = false;
  /** Deletions that were noted here and not seen in the outbox since: one that is nowhere may still be on its way there. */
  const noted = new Set<string>();

  async function removeOf(deletionId: string, { blobIds, conversationId }: z.infer<typeof Unneeded>) {
    const place = await crypto.messagePlace(conversationId, deletionId);
    if (place === null && noted.has(deletionId)) return;
    noted.delete(deletionId);
    if (place === 'outbox') return;
    for (const blobId of place === 'log' ? blobIds : []) {
      await blobs.remove(blobId).catch((error: unknown) => {
        if (!isGoneBlob(error)) throw error;
      });
    }
    // The deletion is done, or was called off.
    await crypto.writeLocal(`${entryPrefix}${deletionId}`, null);
  }

  async function remove(): Promise<void> {
    const entries = await readLocalEntries(deps, entryPrefix, Unneeded);
    mayWait = entries.length > 0;
    for (const { name, value } of entries) await removeOf(name.slice(entryPrefix.length), value);
  }

  sessionEvents.on('entriesProcessed', () => {
    if (mayWait) background(remove);
  });

  return {
    remove,

    async note(deletionId, { content, conversationId, messageId }) {
      if (content.kind !== 'files') return;
      const blobIds: string[] = [];
      for (const index of content.files.keys())
        blobIds.push((await crypto.openFile(conversationId, messageId, index)).blobId);
      const unneeded = { conversationId, blobIds };
      noted.add(deletionId);
      await crypto.writeLocal(`${entryPrefix}${deletionId}`, JSON.stringify(unneeded));
      mayWait = true;
    },
  };
}
