import { t } from '../../i18n/i18n.ts';

const units = [
  ['weeks', 7 * 24 * 60 * 60],
  ['days', 24 * 60 * 60],
  ['hours', 60 * 60],
  ['minutes', 60],
  ['seconds', 1],
] as const;

/** Says a conversation's timer, in the largest unit that it is whole numbers of. */
export function timerText(seconds: number): string {
  const [unit, length] = units.find(([, each]) => seconds >= each && seconds % each === 0) ?? [];
  return unit === undefined ? t('timer.off') : t(`timer.${unit}`, { count: seconds / length });
}
