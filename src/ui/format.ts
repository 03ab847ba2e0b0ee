import { formatLocale, t } from '../i18n/i18n.ts';

const styles = {
  clock: { hour: 'numeric', minute: '2-digit' },
  shortDay: { day: 'numeric', month: 'short' },
  longDay: { dateStyle: 'long' },
  month: { month: 'long', year: 'numeric' },
  fullMoment: { dateStyle: 'full', timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Formatters by locale and style: making one costs more than a hundred uses. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** In the person's time zone: h:mm AM/PM in English (spec section 2), else as the language writes it. */
export function timeOfDay(timestamp: string): string {
  // Newer locale data puts a narrow no-break space before AM and PM.
  return format('clock', timestamp).replace(/\s/gu, ' ');
}

/** Today, Yesterday, else the local date. */
export function dayLabel(timestamp: string, now: Date): string {
  return relativeDayText(timestamp, now) ?? longDay(timestamp);
}

/** The local date. */
export function longDay(timestamp: string): string {
  return format('longDay', timestamp);
}

/** The local month and year. */
export function monthLabel(timestamp: string): string {
  return format('month', timestamp);
}

/** For lists: the time today, else the day. */
export function shortMoment(timestamp: string, now: Date): string {
  if (relativeDay(timestamp, now) === 'today') return timeOfDay(timestamp);
  return relativeDayText(timestamp, now) ?? format('shortDay', timestamp);
}

/** For a time beside another: the time of day, after the day where that is another one. */
export function momentBeside(timestamp: string, other: string): string {
  const time = timeOfDay(timestamp);
  return dayKey(timestamp) === dayKey(other) ? time : `${longDay(timestamp)} ${time}`;
}

export function fullTimestamp(timestamp: string): string {
  return format('fullMoment', timestamp);
}

/** The local calendar day, as a key to compare by. */
export function dayKey(timestamp: string): string {
  return new Date(timestamp).toDateString();
}

function relativeDayText(timestamp: string, now: Date): string | null {
  const day = relativeDay(timestamp, now);
  return day === null ? null : t(`format.${day}`);
}

function relativeDay(timestamp: string, now: Date): 'today' | 'yesterday' | null {
  const day = dayKey(timestamp);
  if (day === now.toDateString()) return 'today';
  // By the calendar, as a day isn't always 24 hours long.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return day === yesterday.toDateString() ? 'yesterday' : null;
}

function format(style: keyof typeof styles, timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? '' : formatter(style).format(date);
}

function formatter(style: keyof typeof styles): Intl.DateTimeFormat {
  const locale = formatLocale();
  const key = `${locale} ${style}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  // The specification's English clock has twelve hours, whatever the region.
  const twelveHours = style === 'clock' && locale.startsWith('en');
  const made = new Intl.DateTimeFormat(locale, { ...styles[style], ...(twelveHours && { hour12: true }) });
  formatters.set(key, made);
  return made;
}
