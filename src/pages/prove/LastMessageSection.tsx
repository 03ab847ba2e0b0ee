import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { conversationNameAtom } from '../../store/conversationNames.ts';
import { ownOrOtherNameAtom, withMentionNames } from '../../store/mentions.ts';
import type { LastSent, SentText } from '../../store/proof.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { ButtonLink } from '../../ui/Button.tsx';
import styles from './LastMessageSection.module.css';
import { ProofSection } from './ProofSection.tsx';
import { kindOfKey, RelayCopyView } from './RelayCopyView.tsx';
import { TrialButton } from './TrialButton.tsx';
import { TrialFailure } from './TrialFailure.tsx';
import { useTrial } from './useTrial.ts';

/** Shows what the relay has of one's last message beside what one wrote. */
export function LastMessageSection() {
  const user = useAtomValue(currentUserAtom);
  return (
    <ProofSection
      number={3}
      title={t('prove.last.title')}
      lead={t('prove.last.lead')}
      note={t('prove.last.note')}
    >
      {user === null ? <ForMembers /> : <LastMessage key={user.id} />}
    </ProofSection>
  );
}

function ForMembers() {
  return (
    <>
      <p className={styles.sentence}>{t('prove.last.visitor')}</p>
      <p className={styles.links}>
        <ButtonLink to={paths.login}>{t('site.logIn')}</ButtonLink>
        <ButtonLink to={paths.signUp}>{t('site.signUp')}</ButtonLink>
      </p>
    </>
  );
}

function LastMessage() {
  const actions = useAtomValue(requiredActionsAtom);
  const { hasFailed, isBusy, result, run } = useTrial<{ readonly last: LastSent | null }>();
  const isShown = result !== null && !hasFailed;
  return (
    <>
      <TrialButton isBusy={isBusy} onPress={() => void run(async () => ({ last: await actions.lastSent() }))}>
        {isBusy ? t('prove.last.asking') : t(isShown ? 'prove.last.again' : 'prove.last.show')}
      </TrialButton>
      {hasFailed && <TrialFailure />}
      {isShown && result.last === null && <Alert kind="info">{t('prove.last.none')}</Alert>}
      {isShown && result.last !== null && <Beside last={result.last} />}
    </>
  );
}

function Beside({ last: { copy, text } }: { last: LastSent }) {
  return (
    <div className={styles.beside}>
      <Written text={text} />
      <RelayCopyView copy={copy} text={text} />
    </div>
  );
}

function Written({ text: { isEdited, isMarkdown, key, text } }: { text: SentText }) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const titleOf = useAtomValue(conversationNameAtom);
  return (
    <section className={styles.card}>
      <h3 className={styles.heading}>
        <RichText
          id={kindOfKey(key, ownId) === 'person' ? 'prove.last.wroteTo' : 'prove.last.wroteIn'}
          parts={{ name: <bdi>{titleOf(key)}</bdi> }}
        />
      </h3>
      <p className={styles.text} dir="auto">
        {isMarkdown === true ? withMentionNames(text, nameOf) : text}
      </p>
      {isEdited && <p className={styles.note}>{t('prove.last.edited')}</p>}
    </section>
  );
}
