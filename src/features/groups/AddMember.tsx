import { useAtomValue, useSetAtom } from 'jotai';
import { UserRoundPlus } from 'lucide-react';
import { useState } from 'react';
import { displayName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { contactsAtom } from '../../store/contacts.ts';
import type { Group } from '../../store/groups.ts';
import { Button } from '../../ui/Button.tsx';
import { Select } from '../../ui/Select.tsx';
import styles from './GroupDetails.module.css';
import { GroupProgressLine } from './GroupProgressLine.tsx';
import { groupTexts } from './texts.ts';

/** For the creator: brings in a contact who isn't in the group yet. */
export function AddMember({ group }: { group: Group }) {
  const actions = useAtomValue(requiredActionsAtom);
  const contacts = useAtomValue(contactsAtom).items;
  const attempt = useSetAtom(attemptAtom);
  const [chosen, setChosen] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const inside = new Set(group.members.map(({ userId }) => userId));
  const options = contacts
    .filter(({ id }) => !inside.has(id))
    .map((contact) => ({ value: contact.id, label: displayName(contact) }))
    .toSorted((a, b) => a.label.localeCompare(b.label, undefined, { sensitivity: 'base' }));
  const chosenOption = options.find(({ value }) => value === chosen);

  async function add() {
    if (chosenOption === undefined || busy) return;
    setBusy(true);
    const added = await attempt(() => actions.addGroupMember(group.id, chosenOption.value), {
      success: groupTexts.added(chosenOption.label),
      failure: groupTexts.addFailed,
    });
    setBusy(false);
    if (added) setChosen(null);
  }

  if (options.length === 0 && !busy) {
    return (
      <section className={styles.section} aria-label={groupTexts.addMember}>
        <p className={styles.hint}>
          {contacts.length === 0 ? groupTexts.noContacts : groupTexts.nobodyToAdd}
        </p>
      </section>
    );
  }
  return (
    <form
      className={styles.section}
      aria-label={groupTexts.addMember}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Select
        label={groupTexts.addMember}
        placeholder={groupTexts.addPlaceholder}
        options={options}
        value={chosenOption?.value ?? null}
        onValueChange={setChosen}
        disabled={busy}
      />
      <GroupProgressLine shown={busy} />
      <Button type="submit" variant="primary" busy={busy} disabled={chosenOption === undefined}>
        {!busy && <UserRoundPlus size={18} aria-hidden="true" />}
        {busy ? groupTexts.adding : groupTexts.add}
      </Button>
    </form>
  );
}
