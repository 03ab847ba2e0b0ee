import { t } from '../../i18n/i18n.ts';
import { openFile } from '../../lib/fileSink.ts';
import { operator, productSlug } from '../../operator/index.ts';
import type { CurrentUser } from '../../store/session.ts';
import { longDay } from '../../ui/format.ts';

export function groupsOf(recoveryKey: string): string[] {
  return recoveryKey.split('-');
}

/** Returns whether the typed text is that group of the key, in any case, with O for 0 and I or L for 1. */
export function isGroup(typed: string, group: string): boolean {
  const plain = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return plain === group;
}

/** The text on paper and in the file: the key, its owner and its use. */
export function recoverySheet(recoveryKey: string, user: CurrentUser, now: Date) {
  return {
    title: t('recovery.file.title', { product: operator.productName }),
    account: t('recovery.file.account', { username: user.username, email: user.email }),
    made: t('recovery.file.made', { date: longDay(now.toISOString()) }),
    keyLabel: t('recovery.file.key'),
    recoveryKey,
    use: t('recovery.file.use'),
  };
}

export async function downloadRecoveryKey(recoveryKey: string, user: CurrentUser, now: Date): Promise<void> {
  const sheet = recoverySheet(recoveryKey, user, now);
  const name = `${productSlug}-${t('recovery.file.name')}.txt`;
  const file = await openFile({ name, type: 'text/plain' });
  if (file === null) return;
  const paragraphs = [
    sheet.title,
    `${sheet.account}\n${sheet.made}`,
    `${sheet.keyLabel}\n${sheet.recoveryKey}`,
    sheet.use,
  ];
  await file.write(`${paragraphs.join('\n\n')}\n`);
  await file.close();
}
