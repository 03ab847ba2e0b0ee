import type { MessageView } from '../../store/chats.ts';
import { dayKey } from './format.ts';

/** Messages of one person in a row, close in time: drawn as one block. */
export interface MessageRun {
  readonly senderId: string;
  readonly messages: readonly MessageView[];
}

export interface TimelineDay {
  readonly key: string;
  /** Of the day's first message. */
  readonly timestamp: string;
  readonly runs: readonly MessageRun[];
}

const runGap = 5 * 60_000;

/** Splits messages, given in order, by local day and then by sender. */
export function timeline(messages: readonly MessageView[]): TimelineDay[] {
  const days: { key: string; timestamp: string; runs: { senderId: string; messages: MessageView[] }[] }[] =
    [];
  let previous: MessageView | undefined;
  for (const message of messages) {
    const key = dayKey(message.timestamp);
    let day = days.at(-1);
    if (day?.key !== key) {
      day = { key, timestamp: message.timestamp, runs: [] };
      days.push(day);
      previous = undefined;
    }
    const run = day.runs.at(-1);
    if (run && previous && continues(previous, message)) run.messages.push(message);
    else day.runs.push({ senderId: message.senderId, messages: [message] });
    previous = message;
  }
  return days;
}

function continues(previous: MessageView, next: MessageView): boolean {
  const gap = Date.parse(next.timestamp) - Date.parse(previous.timestamp);
  return previous.senderId === next.senderId && gap <= runGap;
}
