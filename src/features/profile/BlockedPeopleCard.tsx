import { useAtomValue, useSetAtom } from 'jotai';
import { UserRoundMinus } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { useBlocks } from '../../store/blocks.ts';
import { displayName } from '../../store/people.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { longDay } from '../../ui/format.ts';

/** The people whom one has blocked, each with the way back. */
export function BlockedPeopleCard({ id }: { id: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const blocks = useBlocks();
  const unblock = (userId: string) =>
    void attempt(() => actions.updateBlocks({ userId, blocked: false }), {
      success: t('blocks.unblocked'),
      failure: t('blocks.unblockFailed'),
    });
  return (
    <Card title={t('blocks.title')} icon={<UserRoundMinus />} id={id}>
      <CardBody>
        <p>{t(blocks?.length === 0 ? 'blocks.none' : 'blocks.description')}</p>
      </CardBody>
      {blocks?.map((person) => (
        <CardRow
          key={person.id}
          title={displayName(person)}
          description={t('blocks.since', { date: longDay(person.created_at) })}
          control={
            <Button
              size="small"
              aria-label={t('blocks.unblockOf', { name: displayName(person) })}
              onClick={() => unblock(person.id)}
            >
              {t('blocks.unblock')}
            </Button>
          }
        />
      ))}
    </Card>
  );
}
