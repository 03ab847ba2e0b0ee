import { useAtom } from 'jotai';
import { useEffect, useId, useState } from 'react';
import { DevicesCard } from '../../features/devices/DevicesCard.tsx';
import { MessageBackupCard } from '../../features/messageBackup/MessageBackupCard.tsx';
import { MoveOnCard } from '../../features/movingOn/MoveOnCard.tsx';
import { AskedFirstCard } from '../../features/profile/AskedFirstCard.tsx';
import { BlockedPeopleCard } from '../../features/profile/BlockedPeopleCard.tsx';
import { DeleteAccountCard } from '../../features/profile/DeleteAccountCard.tsx';
import { DiscoverabilityCard } from '../../features/profile/DiscoverabilityCard.tsx';
import { ProfileCard } from '../../features/profile/ProfileCard.tsx';
import { ProveCard } from '../../features/profile/ProveCard.tsx';
import type { StarredProps } from '../../features/profile/Starred.tsx';
import { StarredCard } from '../../features/profile/StarredCard.tsx';
import { YourDataCard } from '../../features/profile/YourDataCard.tsx';
import { RecoveryCard } from '../../features/recovery/RecoveryCard.tsx';
import { SettingsCard } from '../../features/settings/SettingsCard.tsx';
import { t } from '../../i18n/i18n.ts';
import { profileSectionAtom } from '../../store/profileSection.ts';
import { useStars } from '../../store/stars.ts';
import styles from './ProfilePanel.module.css';

/** The cards of the Profile tab, and on wide screens a list of them. */
export function ProfilePanel({ onOpenConversation }: Pick<StarredProps, 'onOpenConversation'>) {
  const hasStars = useStars().length > 0;
  const prefix = useId();
  const sections = [
    { id: `${prefix}profile`, title: t('profile.title'), Card: ProfileCard },
    // Without a star there is nothing to look for here.
    ...(hasStars ? [{ id: `${prefix}starred`, title: t('stars.title'), Card: StarredCard }] : []),
    { id: `${prefix}found`, title: t('profile.found.title'), Card: DiscoverabilityCard },
    { id: `${prefix}groups`, title: t('invitations.setting.title'), Card: AskedFirstCard },
    { id: `${prefix}blocks`, title: t('blocks.title'), Card: BlockedPeopleCard },
    { id: `${prefix}recovery`, title: t('recoveryForms.card.title'), Card: RecoveryCard },
    { id: `${prefix}devices`, title: t('deviceList.card.title'), Card: DevicesCard },
    { id: `${prefix}moving-on`, title: t('movingOn.title'), Card: MoveOnCard },
    { id: `${prefix}prove`, title: t('profile.prove.title'), Card: ProveCard },
    { id: `${prefix}settings`, title: t('settings.title'), Card: SettingsCard },
    { id: `${prefix}message-backup`, title: t('messageBackup.title'), Card: MessageBackupCard },
    { id: `${prefix}data`, title: t('profile.data.title'), Card: YourDataCard },
    { id: `${prefix}danger`, title: t('profile.danger.title'), Card: DeleteAccountCard },
  ];
  const current = useSectionInSight(sections.map(({ id }) => id).join(' '));
  useSectionLedTo(prefix);
  return (
    <div className={styles.panel}>
      <nav className={styles.nav} aria-label={t('profile.sections')}>
        <ul>
          {sections.map(({ id, title }) => (
            <li key={id}>
              <button
                type="button"
                className={styles.link}
                aria-current={id === current || undefined}
                onClick={() => document.getElementById(id)?.scrollIntoView()}
              >
                {title}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.cards}>
        {sections.map(({ id, Card }) => (
          <Card key={id} {...{ id, onOpenConversation }} />
        ))}
      </div>
    </div>
  );
}

/** Shows the section to which a banner has led, and moves the focus there. @param prefix of the sections' ids */
function useSectionLedTo(prefix: string): void {
  const [section, setSection] = useAtom(profileSectionAtom);
  useEffect(() => {
    if (section === null) return;
    setSection(null);
    const element = document.getElementById(`${prefix}${section}`);
    if (element === null) return;
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.scrollIntoView();
  }, [prefix, section, setSection]);
}

/** Returns the id of the section that is being read. @param ids separated by spaces, from top to bottom */
function useSectionInSight(ids: string): string | null {
  const [current, setCurrent] = useState<string | null>(null);
  useEffect(() => {
    const update = () => setCurrent(sectionInSight(ids.split(' ')));
    update();
    // Scroll events don't bubble, so capture them from whichever element scrolls.
    document.addEventListener('scroll', update, { capture: true, passive: true });
    window.addEventListener('resize', update);
    return () => {
      document.removeEventListener('scroll', update, { capture: true });
      window.removeEventListener('resize', update);
    };
  }, [ids]);
  return current;
}

function sectionInSight(ids: readonly string[]): string | null {
  const sections = ids.flatMap((id) => {
    const rectangle = document.getElementById(id)?.getBoundingClientRect();
    return rectangle === undefined ? [] : [{ id, top: rectangle.top, bottom: rectangle.bottom }];
  });
  const [first, last] = [sections.at(0), sections.at(-1)];
  if (first === undefined || last === undefined) return null;
  // The ends come first: a short section at an end never reaches the part of the window where one reads.
  if (first.top >= 0) return first.id;
  if (last.bottom <= window.innerHeight) return last.id;
  return sections.findLast(({ top }) => top <= window.innerHeight * 0.4)?.id ?? first.id;
}
