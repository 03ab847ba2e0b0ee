import { useAtomValue } from 'jotai';
import { CircleUserRound } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { displayName } from '../../store/people.ts';
import { type CurrentUser, currentUserAtom } from '../../store/session.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody } from '../../ui/Card.tsx';
import { longDay } from '../../ui/format.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import { EditProfileForm } from './EditProfileForm.tsx';
import styles from './ProfileCard.module.css';

const EmailVerificationForm = onDemand<{ open: boolean; onDone: () => void }>(
  async () => (await import('./EmailVerificationForm.tsx')).EmailVerificationForm,
);

/** One's name and email address, and the form to change them. */
export function ProfileCard({ id }: { id?: string }) {
  const user = useAtomValue(currentUserAtom);
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const returning = useRef(false);

  // The form that had the focus is gone.
  useEffect(() => {
    if (!editing && returning.current) edit.current?.focus();
    returning.current = editing;
  }, [editing]);

  if (user === null) return null;
  return (
    <Card title={t('profile.title')} icon={<CircleUserRound />} {...(id !== undefined && { id })}>
      <CardBody>
        {editing ? (
          <EditProfileForm user={user} onDone={() => setEditing(false)} />
        ) : (
          <>
            <Names user={user} />
            <div>
              <Button ref={edit} onClick={() => setEditing(true)}>
                {t('profile.edit')}
              </Button>
            </div>
            <EmailVerificationForm open onDone={() => edit.current?.focus()} />
          </>
        )}
      </CardBody>
    </Card>
  );
}

function Names({ user }: { user: CurrentUser }) {
  const since = longDay(user.created_at);
  return (
    <div className={styles.person}>
      <Avatar name={displayName(user)} size={64} />
      <dl className={styles.facts}>
        <div>
          <dt>{t('profile.username')}</dt>
          <dd>
            <bdi>{user.username}</bdi>
          </dd>
        </div>
        <div>
          <dt>{t('profile.email')}</dt>
          <dd>
            <bdi>{user.email}</bdi>
          </dd>
        </div>
        {since !== '' && (
          <div>
            <dt>{t('profile.memberSince')}</dt>
            <dd>
              <time dateTime={user.created_at}>{since}</time>
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}
