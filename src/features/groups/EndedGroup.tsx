import { useAtomValue, useSetAtom } from 'jotai';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupName } from '../../store/conversationNames.ts';
import type { Group } from '../../store/groups.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import styles from './GroupPane.module.css';

/** Stands above the messages of a group that is gone from the server or that one has left, and offers to remove it. */
export function EndedGroup({ group }: { group: Group }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);

  async function remove() {
    setBusy(true);
    await attempt(() => actions.removeGroup(group.id), {
      success: t('groups.removed', { name: groupName(group) }),
      failure: t('groups.removeFailed'),
    });
    setBusy(false);
    setAsking(false);
  }

  return (
    <>
      <Alert kind="info">
        <p>
          <strong>{t(group.left ? 'groups.leftElsewhereTitle' : 'groups.endedTitle')}</strong>{' '}
          {t(group.left ? 'groups.leftElsewhereHint' : 'groups.endedHint')}
        </p>
        <div className={styles.action}>
          <Button size="small" onClick={() => setAsking(true)}>
            <Trash2 size={16} aria-hidden="true" />
            {t('groups.remove')}
          </Button>
        </div>
      </Alert>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('groups.removeQuestion')}
        confirmLabel={t('groups.remove')}
        busy={busy}
        onConfirm={() => void remove()}
      >
        <p>{t('groups.removeConsequence')}</p>
      </ConfirmDialog>
    </>
  );
}
