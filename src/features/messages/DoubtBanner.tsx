import { useAtomValue, useSetAtom } from 'jotai';
import { MessageCircleWarning } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Banner } from '../../ui/Banner.tsx';
import { Button } from '../../ui/Button.tsx';
import { ViewsButton } from '../conversation/Views.tsx';

interface DoubtBannerProps {
  userId: string;
  name: string;
  conversationId: string;
}

/** Says above a chat that the two were not shown the same: messages wait until the person sends them anyway. */
export function DoubtBanner({ userId, name, conversationId }: DoubtBannerProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  return (
    <Banner
      tone="warning"
      label={t('messages.doubt.label')}
      icon={<MessageCircleWarning />}
      actions={
        <>
          <ViewsButton conversationId={conversationId} ownId={ownId} nameOf={() => name} />
          <Button
            size="small"
            onClick={() =>
              void attempt(() => actions.settleDoubt(userId, 'sendAnyway'), {
                failure: t('messages.doubt.failed'),
              })
            }
          >
            {t('messages.doubt.send')}
          </Button>
        </>
      }
    >
      <RichText id="messages.doubt.text" parts={{ name: <bdi>{name}</bdi> }} />
    </Banner>
  );
}
