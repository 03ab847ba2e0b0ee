import type { ReactNode } from 'react';
import { dayKey } from '../format.ts';
import type { ChatMessage } from './message.ts';

/** A line between the messages that nobody wrote, such as who joined. */
export interface ChatNotice {
  readonly id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly text: ReactNode;
}

/** Messages of one person in a row, close in time: drawn as one block. */
export interface MessageRun {
  readonly kind: 'run';
  readonly senderId: string;
  readonly messages: readonly ChatMessage[];
}

export interface TimelineDay {
  readonly key: string;
  /** Of the day's first item. */
  readonly timestamp: string;
  readonly items: readonly (MessageRun | { readonly kind: 'notice'; readonly notice: ChatNotice })[];
}

interface OpenRun {
  kind: 'run';
  senderId: string;
  messages: ChatMessage[];
}

interface OpenDay {
  key: string;
  timestamp: string;
  items: (OpenRun | { kind: 'notice'; notice: ChatNotice })[];
}

const runGap = 5 * 60_000;

/** Splits messages and notices, each given in order, by local day and then by sender. */
export function timeline(
  messages: readonly ChatMessage[],
  notices: readonly ChatNotice[] = [],
): TimelineDay[] {
  const days: OpenDay[] = [];

  function dayOf(timestamp: string): OpenDay {
    const key = dayKey(timestamp);
    const newest = days.at(-1);
    if (newest?.key === key) return newest;
    const day = { key, timestamp, items: [] };
    days.push(day);
    return day;
  }

  let told = 0;
  function tellUntil(moment: number): void {
    for (
      let notice = notices[told];
      notice && Date.parse(notice.timestamp) <= moment;
      notice = notices[told]
    ) {
      dayOf(notice.timestamp).items.push({ kind: 'notice', notice });
      told += 1;
    }
  }

  for (const message of messages) {
    tellUntil(Date.parse(message.timestamp));
    const { items } = dayOf(message.timestamp);
    const latest = items.at(-1);
    if (latest?.kind === 'run' && continues(latest, message)) latest.messages.push(message);
    else items.push({ kind: 'run', senderId: message.senderId, messages: [message] });
  }
  tellUntil(Number.POSITIVE_INFINITY);
  return days;
}

function continues(run: OpenRun, next: ChatMessage): boolean {
  const previous = run.messages.at(-1);
  if (previous?.senderId !== next.senderId) return false;
  return Date.parse(next.timestamp) - Date.parse(previous.timestamp) <= runGap;
}
