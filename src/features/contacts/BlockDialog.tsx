import { useAtomValue } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { displayName } from '../../store/people.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { ReportDialog } from './ReportDialog.tsx';
import { useAction } from './useAction.ts';

interface BlockDialogProps {
  person: { readonly id: string; readonly username: string };
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Returns the element that gets the focus; null for the one that had it before. */
  returnFocusTo: () => HTMLElement | null;
}

/** Asks before somebody is blocked, and says what that means. */
export function BlockDialog({ person, open, onOpenChange, returnFocusTo }: BlockDialogProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const { running, run } = useAction();
  const [reporting, setReporting] = useState(false);

  async function block() {
    await run('block', () => actions.updateBlocks({ userId: person.id, blocked: true }), {
      success: t('blocks.blocked'),
      failure: t('blocks.blockFailed'),
    });
    onOpenChange(false);
  }

  return (
    <>
      <ConfirmDialog
        open={open}
        onOpenChange={onOpenChange}
        title={t('blocks.titleAsk')}
        confirmLabel={t('blocks.confirm')}
        busy={running !== null}
        onConfirm={() => void block()}
        returnFocusTo={returnFocusTo}
      >
        <p>
          <RichText id="blocks.body" parts={{ name: <bdi>{displayName(person)}</bdi> }} />
        </p>
        <Button
          size="small"
          onClick={() => {
            onOpenChange(false);
            setReporting(true);
          }}
        >
          {t('reports.reportInstead')}
        </Button>
      </ConfirmDialog>
      <ReportDialog key={person.id} person={person} open={reporting} onOpenChange={setReporting} />
    </>
  );
}
