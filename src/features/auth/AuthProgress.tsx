import { useAtomValue } from 'jotai';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { type AuthProgress, authProgressAtom } from '../../store/session.ts';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';

/** The steps in their order. */
const steps: readonly AuthProgress[] = [
  'deriving-keys',
  'signing-in',
  'opening-vault',
  'registering-device',
  'syncing',
];

interface AuthProgressLineProps {
  /** True for a new account, whose vault is made instead of opened. */
  isNew?: boolean;
}

/** Shows the present step of signing in or up, and how many of the steps are done. */
export function AuthProgressLine({ isNew = false }: AuthProgressLineProps) {
  const progress = useAtomValue(authProgressAtom);
  const text = progress === null ? '' : t(textId(progress, isNew));
  return (
    <>
      {progress !== null && (
        <ProgressBar
          label={t('auth.progress.label')}
          text={text}
          value={steps.indexOf(progress) + 1}
          max={steps.length}
        />
      )}
      {/* The element is there before its text, so that the text is announced. */}
      <VisuallyHidden as="output">{text}</VisuallyHidden>
    </>
  );
}

function textId(progress: AuthProgress, isNew: boolean): MessageId {
  return progress === 'opening-vault' && isNew ? 'auth.progress.making-vault' : `auth.progress.${progress}`;
}
