import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { GroupProgressLine } from './GroupProgressLine.tsx';
import styles from './NewGroupForm.module.css';
import { groupNameProblem } from './names.ts';

interface NewGroupFormProps {
  onCreated: (groupId: string) => void;
  onCancel: () => void;
}

export function NewGroupForm({ onCreated, onCancel }: NewGroupFormProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);

  async function create() {
    const found = groupNameProblem(name);
    setProblem(found);
    if (found !== null || busy) return;
    setBusy(true);
    let id: string | null = null;
    await attempt(
      async () => {
        id = await actions.createGroup(name.trim());
      },
      {
        success: t('groups.created', { name: visibleName(name) }),
        failure: t('groups.createFailed'),
      },
    );
    setBusy(false);
    if (id !== null) onCreated(id);
  }

  return (
    <form
      ref={form}
      className={styles.form}
      aria-label={t('groups.newGroup')}
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <TextField
        label={t('groups.nameLabel')}
        name="group-name"
        placeholder={t('groups.namePlaceholder')}
        description={t('groups.nameHint')}
        autoComplete="off"
        dir="auto"
        disabled={busy}
        value={name}
        error={problem ?? undefined}
        onValueChange={(next) => {
          setName(next);
          setProblem(null);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel();
          // The disabled button keeps Enter from submitting, so the problem is shown here.
          if (event.key === 'Enter' && name.trim() === '') setProblem(groupNameProblem(name));
        }}
      />
      <GroupProgressLine shown={busy} />
      <div className={styles.actions}>
        <Button size="small" variant="quiet" disabled={busy} onClick={onCancel}>
          {t('groups.cancel')}
        </Button>
        <Button type="submit" size="small" variant="primary" busy={busy} disabled={name.trim() === ''}>
          {busy ? t('groups.creating') : t('groups.create')}
        </Button>
      </div>
    </form>
  );
}
