import type { ReactNode } from 'react';
import type { MessageView } from '../../store/chats.ts';
import { dayKey } from '../../ui/format.ts';

/** A line between the messages that nobody wrote, such as who joined. */
export interface ChatNotice {
  readonly id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** The position in the log to which it belongs, if to any: else its place comes of its time. */
  readonly seq?: number;
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
  /** In the log's order. */
  messages: readonly MessageView[];
  /** Ascending by position; those without one by time. */
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
  const logged = notices.filter(({ seq }) => seq !== undefined);
  const timed = notices.filter(({ seq }) => seq === undefined);

  /** The position up to which the log is shown with a message: its own, or the last one before it in the outbox. */
  function positionOf(index: number): number {
    for (let at = index; at >= 0; at--) {
      const seq = messages[at]?.seq ?? null;
      if (seq !== null) return seq;
    }
    return 0;
  }

  const beginning: Edge = { seq: Number.NEGATIVE_INFINITY, moment: Number.NEGATIVE_INFINITY };
  const end: Edge = { seq: Number.POSITIVE_INFINITY, moment: Number.POSITIVE_INFINITY };
  const edgeOf = (index: number): Edge => ({ seq: positionOf(index), moment: momentOf(index) });

  /** Returns the notices after one edge and not after another. */
  function noticesBetween(after: Edge, until: Edge): readonly ChatNotice[] {
    const inLog = between(logged, ({ seq }) => seq ?? 0, after.seq, until.seq);
    const inTime = between(timed, momentOfNotice, after.moment, until.moment);
    if (inLog.length === 0 || inTime.length === 0) return [...inLog, ...inTime];
    return [...inLog, ...inTime].sort((one, other) => momentOfNotice(one) - momentOfNotice(other));
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
    const until = edgeOf(index);
    const first = hasOlder ? { seq: until.seq - 1, moment: until.moment - 1 } : beginning;
    const since = index > 0 ? edgeOf(index - 1) : first;
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
    below: dividers(newest, noticesBetween(newest < 0 ? beginning : edgeOf(newest), end)),
  };
}

/** The place of a message among notices: those up to it are above it. */
interface Edge {
  readonly seq: number;
  readonly moment: number;
}

function momentOfNotice({ timestamp }: ChatNotice): number {
  return Date.parse(timestamp);
}

/** The notices whose key is above one and up to another. */
function between(
  notices: readonly ChatNotice[],
  keyOf: (notice: ChatNotice) => number,
  after: number,
  until: number,
): readonly ChatNotice[] {
  return notices.slice(firstAbove(notices, keyOf, after), firstAbove(notices, keyOf, until));
}

function firstAbove(
  notices: readonly ChatNotice[],
  keyOf: (notice: ChatNotice) => number,
  limit: number,
): number {
  let low = 0;
  let high = notices.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const notice = notices[middle];
    if (notice !== undefined && keyOf(notice) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
