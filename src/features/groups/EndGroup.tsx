import { useAtomValue, useSetAtom } from 'jotai';
import { LogOut, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupName } from '../../store/conversationNames.ts';
import type { Group } from '../../store/groups.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import styles from './GroupDetails.module.css';

/** Ends one's membership: the creator deletes the group, everybody else leaves it. Both ask first. */
export function EndGroup({ group, creates }: { group: Group; creates: boolean }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const name = groupName(group);
  const label = creates ? t('groups.delete') : t('groups.leave');

  async function end() {
    setBusy(true);
    await (creates
      ? attempt(() => actions.deleteGroup(group.id), {
          success: t('groups.deleted', { name }),
          failure: t('groups.deleteFailed'),
        })
      : attempt(() => actions.leaveGroup(group.id), {
          success: t('groups.left', { name }),
          failure: t('groups.leaveFailed'),
        }));
    setBusy(false);
    setAsking(false);
  }

  return (
    <section className={styles.section} aria-label={label}>
      <Button onClick={() => setAsking(true)}>
        {creates ? <Trash2 size={18} aria-hidden="true" /> : <LogOut size={18} aria-hidden="true" />}
        {label}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={creates ? t('groups.deleteQuestion') : t('groups.leaveQuestion')}
        confirmLabel={label}
        busy={busy}
        onConfirm={() => void end()}
      >
        <p>{creates ? t('groups.deleteConsequence') : t('groups.leaveConsequence')}</p>
      </ConfirmDialog>
    </section>
  );
}
