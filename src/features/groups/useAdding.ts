import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { nameOfAtom } from '../../store/names.ts';
import { showToastAtom } from '../../store/toasts.ts';

/** Adds people and shows the outcome; `add` resolves to whether anybody was added. */
export function useAdding(groupId: string) {
  const actions = useAtomValue(requiredActionsAtom);
  const nameOf = useAtomValue(nameOfAtom);
  const attempt = useSetAtom(attemptAtom);
  const showToast = useSetAtom(showToastAtom);
  const [busy, setBusy] = useState(false);

  async function add(userIds: readonly string[]): Promise<boolean> {
    setBusy(true);
    const added = await attempt(
      async () => {
        const { asked, withoutDevice } = await actions.addGroupMembers(groupId, userIds);
        const inside = userIds.filter((userId) => ![...asked, ...withoutDevice].includes(userId));
        const [only] = inside;
        const done =
          inside.length === 1 && only !== undefined
            ? t('groups.added', { name: nameOf(only) })
            : t('groups.addedMany', { count: inside.length });
        const left = [
          withoutDevice.length > 0 &&
            t('groups.addedWithout', { names: withoutDevice.map(nameOf).join(', ') }),
          asked.length > 0 && t('invitations.addedAsked', { names: asked.map(nameOf).join(', ') }),
        ].filter((sentence) => sentence !== false);
        if (left.length === 0) showToast('success', done);
        else showToast('info', [...(inside.length > 0 ? [done] : []), ...left].join(' '));
      },
      { failure: t('groups.addFailed') },
    );
    setBusy(false);
    return added;
  }

  return { add, busy };
}
