import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import type { FailureCode } from '../../lib/errorCode.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { ConversationState } from '../../store/chats.ts';
import type { Group, MembershipMismatch } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Names } from '../../ui/Names.tsx';
import { EndedGroup } from './EndedGroup.tsx';
import styles from './GroupPane.module.css';
import { Unvouched } from './Unvouched.tsx';

/** Shows the most serious problem of the group; nothing while it works. */
export function GroupStatus({ group, state }: { group: Group; state: ConversationState | null }) {
  return (
    <div className={styles.status}>
      {group.ended ? (
        <EndedGroup group={group} />
      ) : group.refusal !== null ? (
        <Refusal code={group.refusal} />
      ) : group.mismatch !== null ? (
        <Mismatch groupId={group.id} mismatch={group.mismatch} />
      ) : state !== null && state.status === 'joined' && (state.group?.unvouchedIds.length ?? 0) > 0 ? (
        <Unvouched group={group} userIds={state.group?.unvouchedIds ?? []} />
      ) : (
        state !== null && <Entering status={state.status} />
      )}
    </div>
  );
}

/** Texts for why this browser did not enter a group, by the code of the refusal. */
const refusals: Partial<Readonly<Record<FailureCode, MessageId>>> = {
  policy: 'groups.refusal.policy',
  'identity-changed': 'groups.refusal.identityChanged',
  'invalid-credential': 'groups.refusal.invalidCredential',
  'wrong-group': 'groups.refusal.wrongGroup',
  'missing-key': 'groups.refusal.missingKey',
  'missing-tree': 'groups.refusal.missingTree',
};

function Refusal({ code }: { code: FailureCode }) {
  return (
    <Alert kind="warning">
      <p>
        <strong>{t('groups.refusal.title')}</strong> {t(refusals[code] ?? 'groups.refusal.other')}
      </p>
      <p>{t('groups.refusal.todo')}</p>
    </Alert>
  );
}

function Entering({ status }: { status: ConversationState['status'] }) {
  if (status === 'joined' || status === 'starting') return null;
  return <Alert kind="info">{status === 'forked' ? t('groups.reentering') : t('groups.entering')}</Alert>;
}

function Mismatch({ groupId, mismatch }: { groupId: string; mismatch: MembershipMismatch }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const nameOf = useAtomValue(nameOfAtom);
  const [busy, setBusy] = useState(false);

  async function check() {
    setBusy(true);
    await attempt(() => actions.loadGroupDetails(groupId), { failure: t('groups.checkFailed') });
    setBusy(false);
  }

  return (
    <Alert kind="warning">
      <p>
        <strong>{t('groups.mismatch')}</strong> {t('groups.mismatchWaiting')}
      </p>
      {mismatch.unlisted.length > 0 && (
        <p>
          <RichText
            id="groups.mismatchUnlisted"
            parts={{ names: <Names names={mismatch.unlisted.map(nameOf)} /> }}
          />
        </p>
      )}
      {mismatch.withoutKeys.length > 0 && (
        <p>
          <RichText
            id="groups.mismatchWithoutKeys"
            parts={{ names: <Names names={mismatch.withoutKeys.map(nameOf)} /> }}
          />
        </p>
      )}
      <div className={styles.action}>
        <Button size="small" busy={busy} onClick={() => void check()}>
          {t('groups.checkAgain')}
        </Button>
      </div>
    </Alert>
  );
}
