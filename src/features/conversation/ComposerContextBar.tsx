import { useAtomValue } from 'jotai';
import { Pencil, Reply, X } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import type { ComposerContext } from '../../store/useComposer.ts';
import { IconButton } from '../../ui/Button.tsx';
import styles from './ComposerContextBar.module.css';
import { contentPreview } from './preview.ts';

interface ComposerContextBarProps {
  context: ComposerContext;
  ownId: string | undefined;
  /** Names of others. */
  nameOf: (userId: string) => string;
  onCancel: () => void;
}

/** Says above the input which message is answered or edited, and ends that. */
export function ComposerContextBar({ context, ownId, nameOf, onCancel }: ComposerContextBarProps) {
  const { kind, message } = context;
  const own = message.senderId === ownId;
  const author = own ? t('chat.you') : nameOf(message.senderId);
  return (
    <div className={styles.bar}>
      {kind === 'edit' ? <Pencil aria-hidden="true" /> : <Reply aria-hidden="true" />}
      <output className={styles.words}>
        <span className={styles.title}>
          {kind === 'edit' ? (
            t('chat.editing')
          ) : (
            <RichText id="chat.replyingTo" parts={{ name: <bdi>{author}</bdi> }} />
          )}
        </span>
        <bdi className={styles.text}>
          {contentPreview(message.content, { own, nameOf: useAtomValue(ownOrOtherNameAtom) })}
        </bdi>
      </output>
      <IconButton
        size="small"
        label={t(kind === 'edit' ? 'chat.editCancel' : 'chat.answerCancel')}
        icon={<X />}
        onClick={onCancel}
      />
    </div>
  );
}
