import type { MessageView } from '../../store/chats.ts';
import { isEditable } from '../../store/useComposer.ts';

/** The ways in which a person may take up a message. */
export interface Abilities {
  readonly react: boolean;
  readonly reply: boolean;
  readonly forward: boolean;
  readonly star: boolean;
  readonly pin: boolean;
  readonly edit: boolean;
  readonly deleteForEveryone: boolean;
  readonly deleteHere: boolean;
}

/**
 * @param where.canWrite whether anything can be sent to this conversation
 * @param where.isNotes whether own browsers alone have it
 */
export function abilitiesOf(
  message: MessageView,
  { own, canWrite, isNotes }: { own: boolean; canWrite: boolean; isNotes: boolean },
): Abilities {
  const { content, seq, status } = message;
  // Others can't know a message by what they could not open, nor one that never left: files leave once they are uploaded.
  const isShared =
    content.kind === 'files'
      ? seq !== null
      : (content.kind === 'text' || content.kind === 'unknown') && status !== 'failed';
  const isFound = ['text', 'files', 'unknown'].includes(content.kind) && seq !== null;
  // Files are fetched from the relay, by keys that the worker has once the message is there.
  const isPassable =
    content.kind === 'files' ? seq !== null : content.kind === 'text' && content.text.trim() !== '';
  return {
    react: canWrite && isShared,
    reply: canWrite && isShared,
    star: isFound,
    pin: canWrite && !isNotes && isFound,
    // A copy would outlive what its author has agreed on with the others.
    forward: isPassable && message.timer === undefined,
    edit: canWrite && own && isEditable(message),
    deleteForEveryone: canWrite && own && isShared,
    // In the outbox it is still on its way.
    deleteHere: seq !== null,
  };
}
