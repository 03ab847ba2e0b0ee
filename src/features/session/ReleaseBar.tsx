import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Disclosure } from '../../ui/Disclosure.tsx';

/** News of a signed release. */
export type ReleaseNews =
  /** It changes these parts, which the person has to agree to. */
  | { readonly version: string; readonly app: boolean; readonly room: boolean; readonly policies: boolean }
  /** The relay serves something that can't be used, for reasons that are told to operators. */
  | { readonly problem: ReleaseProblem; readonly reasons: readonly string[] };

/** `first`: on the first visit, when nothing is in use yet. `incomplete`: not all of what was agreed to could be had. */
export type ReleaseProblem = 'different' | 'first' | 'incomplete' | 'rollback' | 'signature' | 'unsigned';

interface ReleaseBarProps {
  release: ReleaseNews;
  /** The person agrees, or has read what was noticed. */
  onAnswer: () => void;
}

/** Asks about a signed release, and about its key room by itself; or says that what the relay serves is none. */
export function ReleaseBar({ release, onAnswer }: ReleaseBarProps) {
  const [asked, setAsked] = useState<'release' | 'room' | 'nothing'>('release');
  if ('problem' in release) {
    return (
      <Alert
        kind={release.problem === 'incomplete' ? 'info' : 'warning'}
        action={
          <Button size="small" onClick={onAnswer}>
            {t('releases.dismiss')}
          </Button>
        }
      >
        <p>{problemText(release.problem)}</p>
        {release.reasons.length > 0 && (
          <Disclosure summary={t('releases.details')}>
            {release.reasons.map((reason) => (
              <p key={reason}>
                <code>{reason}</code>
              </p>
            ))}
          </Disclosure>
        )}
      </Alert>
    );
  }
  const { app, policies, room, version } = release;
  const isAsking = asked === 'room';
  function agree() {
    const next = room && asked === 'release' ? 'room' : 'nothing';
    setAsked(next);
    if (next === 'nothing') onAnswer();
  }
  const parts = [
    t('releases.version', { version }),
    t(app ? 'releases.app.changed' : 'releases.app.unchanged'),
    t(room ? 'releases.room.changed' : 'releases.room.unchanged'),
    ...(policies ? [t('releases.policies.changed')] : []),
  ];
  return (
    <Alert
      kind={isAsking ? 'warning' : 'info'}
      action={
        <Button size="small" busy={asked === 'nothing'} onClick={agree}>
          {t(isAsking ? 'releases.room.agree' : 'releases.use')}
        </Button>
      }
    >
      {isAsking ? t('releases.room.question') : parts.join(' ')}
    </Alert>
  );
}

function problemText(problem: ReleaseProblem): string {
  if (problem === 'different') return t('releases.refused');
  if (problem === 'first' || problem === 'incomplete') return t(`releases.${problem}`);
  return t(`releases.refused.${problem}`);
}
