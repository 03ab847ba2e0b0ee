import type { ConversationKey } from './chats.ts';
import type { NewFile } from './files.ts';
import { sessionAtom } from './sessionAtom.ts';

/** A file that the person has chosen for their next message. */
export interface ChosenFile {
  readonly id: string;
  readonly name: string;
  /** Null while it is made ready: pictures are drawn anew. */
  readonly file: NewFile | null;
  /** A sentence on why it can't be sent; null for none. */
  readonly problem: string | null;
  /** The person's words for those who don't see it. */
  readonly description: string;
}

/** By {@link ConversationKey}. They are in no storage: a reload forgets what was chosen. */
export const chosenFilesAtom = sessionAtom<Readonly<Record<ConversationKey, readonly ChosenFile[]>>>({});
