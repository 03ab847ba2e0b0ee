import { useAtomValue } from 'jotai';
import { type RefObject, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { IncomingRequest } from '../../store/contacts.ts';
import { Button } from '../../ui/Button.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { type RowControls, VirtualList } from '../../ui/VirtualList.tsx';
import { BlockDialog } from './BlockDialog.tsx';
import { cardColumns, idOf } from './cards.ts';
import { PersonRow } from './PersonRow.tsx';
import { useAction } from './useAction.ts';

interface RequestListProps {
  requests: readonly IncomingRequest[];
  /** Gets the focus when a request is answered, because the pressed button is gone then. */
  heading: RefObject<HTMLElement | null>;
}

export function RequestList({ requests, heading }: RequestListProps) {
  const [blocking, setBlocking] = useState<{ person: IncomingRequest['from_user']; open: boolean } | null>(
    null,
  );
  const isThere = (id: string) => requests.some(({ from_user }) => from_user.id === id);
  return (
    <>
      {requests.length > 0 && (
        <VirtualList
          items={requests}
          keyOf={idOf}
          estimatedHeight={cardColumns.estimatedHeight}
          gap={cardColumns.gap}
        >
          {(request, controls) => (
            <Request
              request={request}
              controls={controls}
              onAnswered={() => catchLostFocus(heading.current)}
              onBlock={() => setBlocking({ person: request.from_user, open: true })}
            />
          )}
        </VirtualList>
      )}
      {blocking !== null && (
        <BlockDialog
          person={blocking.person}
          open={blocking.open}
          onOpenChange={(open) => setBlocking({ ...blocking, open })}
          returnFocusTo={() => (isThere(blocking.person.id) ? null : heading.current)}
        />
      )}
    </>
  );
}

interface RequestProps {
  request: IncomingRequest;
  controls: RowControls;
  onAnswered: () => void;
  onBlock: () => void;
}

function Request({ request, controls, onAnswered, onBlock }: RequestProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const { running, run } = useAction();

  async function accept() {
    await run('accept', () => actions.acceptContactRequest(request.id), {
      success: t('contacts.accepted'),
      failure: t('contacts.acceptFailed'),
    });
    onAnswered();
  }

  async function decline() {
    await run('decline', () => actions.rejectContactRequest(request.id), {
      success: t('contacts.declined'),
      failure: t('contacts.declineFailed'),
    });
    onAnswered();
  }

  return (
    <PersonRow person={request.from_user} detail={request.from_user.email} stacking>
      <Button size="small" {...controls} disabled={running !== null} onClick={onBlock}>
        {t('blocks.block')}
      </Button>
      <Button size="small" {...controls} disabled={running !== null} onClick={() => void decline()}>
        {t('contacts.decline')}
      </Button>
      <Button
        size="small"
        variant="primary"
        {...controls}
        busy={running === 'accept'}
        disabled={running !== null}
        onClick={() => void accept()}
      >
        {t('contacts.accept')}
      </Button>
    </PersonRow>
  );
}
