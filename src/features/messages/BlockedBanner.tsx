import { useAtomValue, useSetAtom } from 'jotai';
import { UserRoundMinus } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';

/** Stands below the messages of somebody who is blocked, in the place of the form. */
export function BlockedBanner({ userId, name }: { userId: string; name: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  return (
    <Banner
      tone="accent"
      label={t('blocks.label')}
      icon={<UserRoundMinus />}
      actions={
        <Button
          size="small"
          onClick={() =>
            void attempt(() => actions.updateBlocks({ userId, blocked: false }), {
              failure: t('blocks.unblockFailed'),
            })
          }
        >
          {t('blocks.unblock')}
        </Button>
      }
    >
      <RichText id="blocks.banner" parts={{ name: <bdi>{name}</bdi> }} />
    </Banner>
  );
}
