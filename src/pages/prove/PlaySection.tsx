import { useEffect, useRef, useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { type Play, type PlayState, type Proof, type Trick, tricks } from '../../store/proof.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { PlayScreen, playerNames } from './PlayScreen.tsx';
import styles from './PlaySection.module.css';
import { ProofSection } from './ProofSection.tsx';
import { RelayLog } from './RelayLog.tsx';
import { TrialButton } from './TrialButton.tsx';
import { TrialFailure } from './TrialFailure.tsx';
import { useTrial } from './useTrial.ts';

const choices = ['fair', ...tricks] as const;
type Choice = (typeof choices)[number];

const texts = [1, 2, 3, 4, 5].map((number) => `prove.play.text.${number}` as MessageId);

interface Played {
  readonly choice: Choice;
  readonly state: PlayState;
}

/** Lets the visitor be the relay between two people, whose browsers are the product's own. */
export function PlaySection({ proof }: { proof: Proof }) {
  const beginning = useTrial<Play>();
  const trial = useTrial<Played>();
  const [choice, setChoice] = useState<Choice>('fair');
  const play = beginning.result;
  const firstChoice = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that began it is gone.
    if (play !== null) catchLostFocus(firstChoice.current);
  }, [play]);

  async function begin() {
    await beginning.run(async () => {
      const begun = await proof.startPlay(texts.map((id) => t(id)));
      setChoice('fair');
      void trial.run(async () => ({ choice: 'fair', state: await begun.play(null) }));
      return begun;
    });
  }

  function choose(next: Choice) {
    if (play === null || trial.isBusy) return;
    setChoice(next);
    const trick: Trick | null = next === 'fair' ? null : next;
    void trial.run(async () => ({ choice: next, state: await play.play(trick) }));
  }

  return (
    <ProofSection
      number={4}
      title={t('prove.play.title')}
      lead={t('prove.play.lead')}
      note={t('prove.play.room')}
    >
      {play === null ? (
        <TrialButton isBusy={beginning.isBusy} onPress={() => void begin()}>
          {t(beginning.isBusy ? 'prove.play.starting' : 'prove.play.start')}
        </TrialButton>
      ) : (
        <fieldset className={styles.choices}>
          <legend className={styles.legend}>{t('prove.play.choose')}</legend>
          {choices.map((each) => (
            <Button
              key={each}
              ref={each === 'fair' ? firstChoice : null}
              variant={each === choice ? 'primary' : 'secondary'}
              aria-pressed={each === choice}
              // Disabled buttons would lose the focus of who plays by keyboard.
              aria-disabled={trial.isBusy || undefined}
              onClick={() => choose(each)}
            >
              {t(`prove.play.trick.${each}`)}
            </Button>
          ))}
        </fieldset>
      )}
      {(beginning.hasFailed || trial.hasFailed) && <TrialFailure />}
      {play !== null && (
        <div className={styles.outcome} aria-busy={trial.isBusy}>
          {trial.isBusy ? (
            <Alert kind="info">{t('prove.play.playing')}</Alert>
          ) : (
            trial.result !== null && !trial.hasFailed && <Outcome played={trial.result} />
          )}
          {trial.result !== null && !trial.hasFailed && <Table state={trial.result.state} />}
        </div>
      )}
    </ProofSection>
  );
}

function Outcome({ played: { choice, state } }: { played: Played }) {
  const { noticedBy } = state;
  if (choice === 'fair' && noticedBy.length === 0) {
    return <Alert kind="success">{t('prove.play.fair')}</Alert>;
  }
  if (choice === 'fair' || noticedBy.length === 0) {
    return <Alert kind="error">{t('prove.play.unnoticed')}</Alert>;
  }
  return (
    <Alert kind="warning">
      <p className={styles.noticed}>
        {noticedBy.map((name) => t('prove.play.noticed', { name: playerNames[name] })).join(' ')}
      </p>
      <p>{t(`prove.play.how.${choice}`)}</p>
    </Alert>
  );
}

function Table({ state: { log, screens } }: { state: PlayState }) {
  return (
    <div className={styles.table}>
      <PlayScreen name="anna" screen={screens.anna} />
      <RelayLog log={log} />
      <PlayScreen name="bert" screen={screens.bert} />
    </div>
  );
}
