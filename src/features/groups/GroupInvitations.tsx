import { useAtomValue, useSetAtom } from 'jotai';
import { type RefObject, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupName } from '../../store/conversationNames.ts';
import {
  type GroupInvitation,
  type GroupInvitationChange,
  groupInvitationsAtom,
} from '../../store/groupInvitations.ts';
import { groupsAtom } from '../../store/groups.ts';
import { displayName } from '../../store/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Button } from '../../ui/Button.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import styles from './GroupInvitations.module.css';
import { useAdding } from './useAdding.ts';

/** The questions whether somebody wants to be in a group: those to the person, and the person's own. */
export function GroupInvitations({ focusAfter }: { focusAfter: RefObject<HTMLElement | null> }) {
  const invitations = useAtomValue(groupInvitationsAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  // The button that was pressed is gone with its question.
  const onAnswered = () => catchLostFocus(focusAfter.current);
  if (invitations.length === 0) return null;
  return (
    <ul className={styles.list} aria-label={t('invitations.title')}>
      {invitations.map((invitation) => (
        <li className={styles.item} key={`${invitation.group_id} ${invitation.user.id}`}>
          {invitation.user.id === ownId ? (
            <Received invitation={invitation} onAnswered={onAnswered} />
          ) : (
            <Asked invitation={invitation} onAnswered={onAnswered} />
          )}
        </li>
      ))}
    </ul>
  );
}

interface InvitationProps {
  invitation: GroupInvitation;
  onAnswered: () => void;
}

/** One that the person is asked. */
function Received({ invitation, onAnswered }: InvitationProps) {
  const { accepted, creator, group_id: groupId, member_count: count } = invitation;
  const { busy, change } = useChange(onAnswered);
  const answer = (how: 'accept' | 'decline') => void change({ groupId, answer: how });
  const name = <bdi>{displayName(creator)}</bdi>;
  return (
    <>
      <p>
        <RichText id={accepted ? 'invitations.waiting' : 'invitations.question'} parts={{ name }} />
      </p>
      <p className={styles.detail}>{t('groups.memberCount', { count })}</p>
      <div className={styles.actions}>
        {!accepted && (
          <Button size="small" variant="primary" disabled={busy} onClick={() => answer('accept')}>
            {t('invitations.join')}
          </Button>
        )}
        <Button size="small" disabled={busy} onClick={() => answer('decline')}>
          {t(accepted ? 'invitations.takeBack' : 'invitations.decline')}
        </Button>
      </div>
    </>
  );
}

/** One of the person's own, to somebody else. Only the person's tap adds them: the relay's word alone adds nobody. */
function Asked({ invitation, onAnswered }: InvitationProps) {
  const { accepted, group_id: groupId, user } = invitation;
  const groups = useAtomValue(groupsAtom).items;
  const { add, busy: adding } = useAdding(groupId);
  const { busy, change } = useChange(onAnswered);
  const group = groups.find(({ id }) => id === groupId);
  const parts = {
    name: <bdi>{displayName(user)}</bdi>,
    group: <bdi>{groupName(group)}</bdi>,
  };
  return (
    <>
      <p>
        <RichText id={accepted ? 'invitations.accepted' : 'invitations.asked'} parts={parts} />
      </p>
      <div className={styles.actions}>
        {accepted && (
          <Button
            size="small"
            variant="primary"
            busy={adding}
            disabled={busy || adding}
            onClick={() => void add([user.id]).then(onAnswered)}
          >
            {t('groups.add')}
          </Button>
        )}
        <Button
          size="small"
          disabled={busy || adding}
          onClick={() => void change({ groupId, withdrawFrom: user.id })}
        >
          {t('invitations.withdraw')}
        </Button>
      </div>
    </>
  );
}

/** Makes one change at a time, and says in a toast where that failed. */
function useChange(onChanged: () => void) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [busy, setBusy] = useState(false);

  async function change(wanted: GroupInvitationChange) {
    setBusy(true);
    await attempt(() => actions.updateGroupInvitations(wanted), { failure: t('invitations.failed') });
    setBusy(false);
    onChanged();
  }

  return { busy, change };
}
