import { useAtomValue } from 'jotai';
import { UserRoundPlus } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { contactsAtom } from '../../store/contacts.ts';
import type { Group } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { displayName } from '../../store/people.ts';
import { Button } from '../../ui/Button.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { MultiCombobox } from '../../ui/MultiCombobox.tsx';
import { Names } from '../../ui/Names.tsx';
import styles from './GroupDetails.module.css';
import { GroupProgressLine } from './GroupProgressLine.tsx';
import { useAdding } from './useAdding.ts';

/** Lets the creator add contacts who aren't in the group yet, all at once. */
export function AddMembers({ group }: { group: Group }) {
  const contacts = useAtomValue(contactsAtom).items;
  const nameOf = useAtomValue(nameOfAtom);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { add, busy } = useAdding(group.id);

  const options = useMemo(() => {
    const inside = new Set(group.members.map(({ userId }) => userId));
    return contacts
      .filter(({ id }) => !inside.has(id))
      .map((contact) => ({ value: contact.id, label: displayName(contact) }))
      .toSorted((a, b) => byLabel.compare(a.label, b.label));
  }, [contacts, group.members]);
  // Somebody who was chosen may have been added by another device, or be no contact any more.
  const wanted = options.filter(({ value }) => chosen.has(value)).map(({ value }) => value);

  const place = useRef<HTMLDivElement>(null);
  const wasBusy = useRef(false);
  useEffect(() => {
    // The button that had the focus has nothing to do any more, or is gone with the last person to add.
    if (wasBusy.current && !busy) catchLostFocus(place.current);
    wasBusy.current = busy;
  }, [busy]);

  if (options.length === 0 && !busy) {
    return (
      <div ref={place} tabIndex={-1}>
        <section className={styles.section} aria-label={t('groups.addMember')}>
          <p className={styles.hint}>
            {contacts.length === 0 ? t('groups.noContacts') : t('groups.nobodyToAdd')}
          </p>
        </section>
      </div>
    );
  }
  return (
    <div ref={place} tabIndex={-1}>
      <form
        className={styles.section}
        aria-label={t('groups.addMember')}
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted.length === 0 || busy) return;
          void add(wanted).then((added) => added && setChosen(new Set()));
        }}
      >
        <MultiCombobox
          label={t('groups.addMember')}
          placeholder={t('groups.addPlaceholder')}
          options={options}
          chosen={chosen}
          onChosenChange={setChosen}
          disabled={busy}
          noMatches={t('groups.noMatches')}
          close={t('app.close')}
          moreThan={(shown) => t('groups.contactsShown', { shown, total: options.length })}
        />
        {wanted.length > 0 && (
          <p className={styles.hint}>
            {t('groups.chosen', { count: wanted.length })}: <Names names={wanted.map(nameOf)} />
          </p>
        )}
        <GroupProgressLine shown={busy} />
        <div className={styles.actions}>
          <Button type="submit" variant="primary" busy={busy} disabled={wanted.length === 0}>
            {!busy && <UserRoundPlus size={18} aria-hidden="true" />}
            {busy ? t('groups.adding') : t('groups.add')}
          </Button>
          {options.length > 1 && !busy && (
            <Button
              variant="quiet"
              onClick={() => setChosen(new Set(wanted.length > 0 ? [] : options.map(({ value }) => value)))}
            >
              {wanted.length > 0
                ? t('groups.chooseNobody')
                : t('groups.chooseAll', { count: options.length })}
            </Button>
          )}
        </div>
      </form>
    </div>
  );
}

const byLabel = new Intl.Collator(undefined, { sensitivity: 'base' });
