import { useAtomValue, useSetAtom } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupKeyOf } from '../../store/chats.ts';
import type { Group } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Names } from '../../ui/Names.tsx';
import styles from './GroupPane.module.css';

interface UnvouchedProps {
  group: Pick<Group, 'id' | 'creatorId'>;
  userIds: readonly string[];
}

/** Asks about people who were in the group when this browser came back to it, and whom nobody is known to have added. */
export function Unvouched({ group: { creatorId, id }, userIds }: UnvouchedProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const nameOf = useAtomValue(nameOfAtom);
  const isCreator = creatorId === ownId;
  const names = <Names names={userIds.map(nameOf)} />;
  const settle = (how: 'sendAnyway' | 'removeUnvouched') =>
    void attempt(() => actions.settleDoubt(groupKeyOf(id), how), { failure: t('unvouched.failed') });

  return (
    <Alert kind="warning">
      <p>
        <strong>{t('unvouched.title')}</strong>{' '}
        {isCreator ? (
          <RichText id="unvouched.own" parts={{ names }} />
        ) : (
          <RichText
            id="unvouched.others"
            parts={{ names, creator: <bdi>{creatorId === null ? '' : nameOf(creatorId)}</bdi> }}
          />
        )}
      </p>
      <div className={styles.action}>
        {isCreator && (
          <Button size="small" onClick={() => settle('removeUnvouched')}>
            {t('unvouched.remove')}
          </Button>
        )}
        <Button size="small" onClick={() => settle('sendAnyway')}>
          {t(isCreator ? 'unvouched.keep' : 'unvouched.send')}
        </Button>
      </div>
    </Alert>
  );
}
