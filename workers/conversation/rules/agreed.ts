/** All that the members of a conversation agree on in the extensions of its GroupContext: the timer, and what is pinned. */
import { CryptoError, type Extension, equalBytes } from '@sinetti/crypto-core';
import {
  findMessageTimer,
  groupBindingExtension,
  MESSAGE_TIMER_EXTENSION,
  messageTimerExtension,
} from '@sinetti/crypto-core/account';
import {
  findPinnedMessages,
  MAX_PINNED_MESSAGES,
  PINNED_MESSAGES_EXTENSION,
  pinnedMessagesExtension,
} from '@sinetti/crypto-core/content';
import { fromBase64Url, toBase64Url } from '../../codec/base64url.ts';
import { type Agreed, nothingAgreed } from '../../storage/agreedRecord.ts';
import type { ProposedCommit } from './rules.ts';

/** Returns what is agreed; as if nothing were, of a part in which nobody can say. */
export function agreedIn(extensions: readonly Extension[]): Agreed {
  return {
    timer: readable(() => findMessageTimer(extensions), nothingAgreed.timer),
    pinned: readable(() => findPinnedMessages(extensions).map(toBase64Url), nothingAgreed.pinned),
  };
}

function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CryptoError) return otherwise;
    throw error;
  }
}

/**
 * Returns whether a list of pinned messages is the one before, or differs from it in what one line in the chat can tell: one was
 * pinned, in the place of another one where there was room for no more, or one is pinned no more.
 */
function isOnePinAtMost(before: readonly string[], after: readonly string[]): boolean {
  const added = after.filter((id) => !before.includes(id));
  const kept = before.filter((id) => after.includes(id));
  const mayRemove = added.length === 0 || before.length === MAX_PINNED_MESSAGES ? 1 : 0;
  const isInOrder = [...kept, ...added].every((id, at) => id === after[at]);
  return isInOrder && added.length <= 1 && before.length - kept.length <= mayRemove;
}

const withoutAgreed = (extensions: readonly Extension[]) =>
  extensions.filter(({ type }) => type !== MESSAGE_TIMER_EXTENSION && type !== PINNED_MESSAGES_EXTENSION);

/**
 * Returns whether a commit changes of the extensions nothing but one thing that any member may: the timer, or what is pinned. And
 * beside it nothing.
 * @throws CryptoError `malformed`, `unsupported` for a timer or pinned messages that are none
 */
export function changesOneAgreement(commit: ProposedCommit): boolean {
  const { adds, extensions, external, group, removes } = commit;
  const now = {
    timer: findMessageTimer(extensions),
    pinned: findPinnedMessages(extensions).map(toBase64Url),
  };
  const agreed = agreedIn(group.extensions);
  const isOne = now.timer === agreed.timer || isSamePinned(now, agreed);
  const before = withoutAgreed(group.extensions);
  const after = withoutAgreed(extensions);
  const isSame = before.every(({ data, type }, i) => {
    const same = after[i];
    return type === same?.type && equalBytes(data, same.data);
  });
  const isAlone = before.length === after.length && !external && adds.length + removes.length === 0;
  return isSame && isAlone && isOne && isOnePinAtMost(agreed.pinned, now.pinned);
}

/** Returns whether two say the same of what is pinned. */
export function isSamePinned(one: Pick<Agreed, 'pinned'>, other: Pick<Agreed, 'pinned'>): boolean {
  return one.pinned.join() === other.pinned.join();
}

/**
 * Returns the extensions that an own commit leaves.
 * @param creatorId the creator that the group is bound to anew; false for the one so far
 */
export function extensionsWith(
  before: readonly Extension[],
  creatorId: string | false,
  { pinned, timer }: Agreed,
): readonly Extension[] {
  const ids = pinned.map(fromBase64Url).filter((id) => id !== null);
  return [
    ...(creatorId === false ? withoutAgreed(before) : [groupBindingExtension({ creatorId })]),
    ...(timer === 0 ? [] : [messageTimerExtension(timer)]),
    ...(ids.length === 0 ? [] : [pinnedMessagesExtension(ids)]),
  ];
}
