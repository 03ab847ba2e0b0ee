import { useAtomValue, useSetAtom } from 'jotai';
import { type ReactNode, useState } from 'react';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { ConversationState } from '../../store/chats.ts';
import type { Group, MembershipMismatch } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import styles from './GroupPane.module.css';
import { groupTexts, refusalOther, refusalTexts, refusalTitle, refusalTodo } from './texts.ts';

/** What keeps the group from working as it should; nothing while it does. */
export function GroupStatus({ group, state }: { group: Group; state: ConversationState | null }) {
  return (
    <div className={styles.status}>
      {group.refusal !== null ? (
        <Alert kind="warning">
          <p>
            <strong>{refusalTitle}</strong> {refusalTexts[group.refusal] ?? refusalOther}
          </p>
          <p>{refusalTodo}</p>
        </Alert>
      ) : (
        state !== null && <Entering status={state.status} />
      )}
      {group.mismatch !== null && <Mismatch groupId={group.id} mismatch={group.mismatch} />}
    </div>
  );
}

function Entering({ status }: { status: ConversationState['status'] }) {
  if (status === 'joined' || status === 'starting') return null;
  return <Alert kind="info">{status === 'forked' ? groupTexts.reentering : groupTexts.entering}</Alert>;
}

function Mismatch({ groupId, mismatch }: { groupId: string; mismatch: MembershipMismatch }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const nameOf = useAtomValue(nameOfAtom);
  const [busy, setBusy] = useState(false);

  async function check() {
    setBusy(true);
    await attempt(() => actions.loadGroupDetails(groupId), { failure: groupTexts.checkFailed });
    setBusy(false);
  }

  return (
    <Alert kind="warning">
      <p>
        <strong>{groupTexts.mismatch}</strong> {groupTexts.mismatchWaiting}
      </p>
      {mismatch.unlisted.length > 0 && (
        <p>
          {groupTexts.unlisted}: <Names names={mismatch.unlisted.map(nameOf)} />
        </p>
      )}
      {mismatch.withoutKeys.length > 0 && (
        <p>
          {groupTexts.withoutKeys}: <Names names={mismatch.withoutKeys.map(nameOf)} />
        </p>
      )}
      <div className={styles.check}>
        <Button size="small" busy={busy} onClick={() => void check()}>
          {groupTexts.checkAgain}
        </Button>
      </div>
    </Alert>
  );
}

/** Names shown before it says how many more there are. */
const namesShown = 5;

/** Each name by itself: the direction of one must not turn the others. */
function Names({ names }: { names: readonly string[] }): ReactNode {
  const shown = names.slice(0, namesShown);
  return (
    <>
      {shown.map((name, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- two people may have the same name
        <span key={index}>
          {index > 0 && ', '}
          <bdi>{name}</bdi>
        </span>
      ))}
      {names.length > shown.length && groupTexts.more(names.length - shown.length)}
    </>
  );
}
