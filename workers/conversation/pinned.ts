/** The pinned messages of a conversation, as far as this device has them. */
import type { MessageView } from '../api/cryptoApi.ts';
import type { MessageViews } from './messageViews.ts';

export interface PinnedMessages {
  /** As they are now, the one that was pinned last first: none that was deleted, is over, or isn't here. */
  readonly shown: readonly MessageView[];
  /** Content ids of those that are gone for everybody, the one that was pinned first at the beginning. */
  readonly goneIds: readonly string[];
}

/**
 * Finds what content ids mean.
 * @param pinned in the order of pinning
 */
export async function readPinned(views: MessageViews, pinned: readonly string[]): Promise<PinnedMessages> {
  const shown: MessageView[] = [];
  const goneIds: string[] = [];
  for (const contentId of pinned) {
    const { id, known } = await views.meant(contentId);
    // By the id of an edit nobody here pins: its message could be pinned twice.
    if (known === null || id !== contentId) continue;
    const view = await views.viewOf(known);
    const isErasedHere = 'logged' in known && known.logged.record.erased?.how === 'here';
    if (view !== null && view.content.kind !== 'deleted') shown.push(view);
    else if (!isErasedHere) goneIds.push(contentId);
  }
  return { shown: shown.reverse(), goneIds };
}
