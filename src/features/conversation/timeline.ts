import type { ReactNode } from 'react';
import type { MessageView } from '../../store/chats.ts';
import { dayKey } from '../../ui/format.ts';

/** A line between the messages that nobody wrote, such as who joined. */
export interface ChatNotice {
  readonly id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly text: ReactNode;
}

/** A line between two messages. */
export type Divider =
  | { readonly kind: 'day'; readonly timestamp: string }
  | { readonly kind: 'notice'; readonly notice: ChatNotice }
  /** The messages below it were unread. */
  | { readonly kind: 'unread' };

export interface MessagePlace {
  readonly above: readonly Divider[];
  /** Messages of one person in a row, close in time, are drawn as one block. */
  readonly first: boolean;
  readonly last: boolean;
}

export interface Timeline {
  /** Looks at the message's neighbours only, so that a long conversation costs no more than its rows in sight. */
  placeOf(index: number): MessagePlace;
  /** Dividers below the newest message. */
  readonly below: readonly Divider[];
}

interface TimelineInput {
  /** Ascending by time. */
  messages: readonly MessageView[];
  /** Ascending by time. */
  notices?: readonly ChatNotice[];
  /** True if older messages exist: older notices have their place among those. */
  hasOlder?: boolean;
  /** Index of the message above which the line of unread ones stands. */
  unreadFrom?: number | null;
}

/** Milliseconds of silence that end a block. */
const runGap = 5 * 60_000;

export function timeline(input: TimelineInput): Timeline {
  const { messages, notices = [], hasOlder = false, unreadFrom = null } = input;

  const momentOf = (index: number) => Date.parse(messages[index]?.timestamp ?? '');

  /** Returns the notices later than `after` and not later than `until`. */
  function noticesBetween(after: number, until: number): readonly ChatNotice[] {
    return notices.slice(firstLater(notices, after), firstLater(notices, until));
  }

  function dividers(previous: number, between: readonly ChatNotice[], timestamp?: string): Divider[] {
    let day = messages[previous] === undefined ? null : dayKey(messages[previous].timestamp);
    const found: Divider[] = [];
    const enter = (moment: string) => {
      if (dayKey(moment) === day) return;
      day = dayKey(moment);
      found.push({ kind: 'day', timestamp: moment });
    };
    for (const notice of between) {
      enter(notice.timestamp);
      found.push({ kind: 'notice', notice });
    }
    if (timestamp !== undefined) enter(timestamp);
    return found;
  }

  function above(index: number): readonly Divider[] {
    const message = messages[index];
    if (message === undefined) return [];
    const until = momentOf(index);
    const since = index > 0 ? momentOf(index - 1) : hasOlder ? until - 1 : Number.NEGATIVE_INFINITY;
    const found = dividers(index - 1, noticesBetween(since, until), message.timestamp);
    if (index === unreadFrom) found.push({ kind: 'unread' });
    return found;
  }

  function continues(index: number): boolean {
    const [previous, next] = [messages[index - 1], messages[index]];
    return (
      previous !== undefined &&
      previous.senderId === next?.senderId &&
      momentOf(index) - momentOf(index - 1) <= runGap &&
      above(index).length === 0
    );
  }

  /** Caches places: a row is drawn several times while it finds its position. */
  const places = new Map<number, MessagePlace>();

  function placeOf(index: number): MessagePlace {
    const known = places.get(index);
    if (known !== undefined) return known;
    const place = { above: above(index), first: !continues(index), last: !continues(index + 1) };
    places.set(index, place);
    return place;
  }

  const newest = messages.length - 1;
  return {
    placeOf,
    below: dividers(
      newest,
      noticesBetween(newest < 0 ? Number.NEGATIVE_INFINITY : momentOf(newest), Number.POSITIVE_INFINITY),
    ),
  };
}

/** Index of the first notice that is later than the moment. */
function firstLater(notices: readonly ChatNotice[], moment: number): number {
  let low = 0;
  let high = notices.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Date.parse(notices[middle]?.timestamp ?? '') <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
