const clock = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit', hour12: true });
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const longDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });
const fullMoment = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** h:mm AM/PM in the person's time zone. */
export function timeOfDay(timestamp: string): string {
  // Newer locale data puts a narrow no-break space before AM and PM.
  return format(clock, timestamp).replace(/\s/gu, ' ');
}

/** Today, Yesterday, else the local date. */
export function dayLabel(timestamp: string, now: Date): string {
  return relativeDay(timestamp, now) ?? format(longDay, timestamp);
}

/** For lists: the time today, else the day. */
export function shortMoment(timestamp: string, now: Date): string {
  const day = relativeDay(timestamp, now);
  if (day === 'Today') return timeOfDay(timestamp);
  return day ?? format(shortDay, timestamp);
}

export function fullTimestamp(timestamp: string): string {
  return format(fullMoment, timestamp);
}

/** The local calendar day, as a key to compare by. */
export function dayKey(timestamp: string): string {
  return new Date(timestamp).toDateString();
}

function relativeDay(timestamp: string, now: Date): 'Today' | 'Yesterday' | null {
  const day = dayKey(timestamp);
  if (day === now.toDateString()) return 'Today';
  // By the calendar, as a day isn't always 24 hours long.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return day === yesterday.toDateString() ? 'Yesterday' : null;
}

function format(by: Intl.DateTimeFormat, timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? '' : by.format(date);
}
