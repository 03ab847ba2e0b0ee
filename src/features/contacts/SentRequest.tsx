import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { OutgoingRequest } from '../../store/contacts.ts';
import { Button } from '../../ui/Button.tsx';
import type { RowControls } from '../../ui/VirtualList.tsx';
import { PersonRow } from './PersonRow.tsx';
import { useAction } from './useAction.ts';

interface SentRequestProps {
  person: OutgoingRequest['to_user'];
  controls: RowControls;
  onWithdrawn: () => void;
}

/** A request that waits for the other person, with the way to take it back. */
export function SentRequest({ person, controls, onWithdrawn }: SentRequestProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const { running, run } = useAction();

  async function withdraw() {
    await run('withdraw', () => actions.withdrawContactRequest(person.id), {
      success: t('contacts.withdrawn'),
      failure: t('contacts.withdrawFailed'),
    });
    onWithdrawn();
  }

  return (
    <PersonRow person={person} detail={t('contacts.waiting')} stacking>
      <Button size="small" {...controls} disabled={running !== null} onClick={() => void withdraw()}>
        {t('contacts.withdraw')}
      </Button>
    </PersonRow>
  );
}
