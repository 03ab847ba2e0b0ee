import { useAtomValue } from 'jotai';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { IncomingRequest } from '../../store/contacts.ts';
import { Button } from '../../ui/Button.tsx';
import { PersonRow } from './PersonRow.tsx';
import styles from './people.module.css';
import { contactTexts } from './texts.ts';
import { useAction } from './useAction.ts';

export function RequestList({ requests }: { requests: readonly IncomingRequest[] }) {
  return (
    <ul className={styles.list}>
      {requests.map((request) => (
        <li key={request.id}>
          <Request request={request} />
        </li>
      ))}
    </ul>
  );
}

function Request({ request }: { request: IncomingRequest }) {
  const actions = useAtomValue(requiredActionsAtom);
  const { running, run } = useAction();
  return (
    <PersonRow person={request.from_user} detail={request.from_user.email} stacking>
      <Button
        size="small"
        disabled={running !== null}
        onClick={() =>
          void run('decline', () => actions.rejectContactRequest(request.id), {
            success: contactTexts.declined,
            failure: contactTexts.declineFailed,
          })
        }
      >
        {contactTexts.decline}
      </Button>
      <Button
        size="small"
        variant="primary"
        busy={running === 'accept'}
        disabled={running !== null}
        onClick={() =>
          void run('accept', () => actions.acceptContactRequest(request.id), {
            success: contactTexts.accepted,
            failure: contactTexts.acceptFailed,
          })
        }
      >
        {contactTexts.accept}
      </Button>
    </PersonRow>
  );
}
