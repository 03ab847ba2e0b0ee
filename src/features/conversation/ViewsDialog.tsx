import { useAtomValue, useSetAtom } from 'jotai';
import { type ChangeEvent, useId, useRef, useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { dayInFileName, openFile } from '../../lib/fileSink.ts';
import { productSlug } from '../../operator/index.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { SeenEntry, ViewComparison } from '../../store/chats.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { Switch } from '../../ui/Switch.tsx';
import styles from './ViewsDialog.module.css';

export interface ViewsProps {
  conversationId: string;
  ownId: string | undefined;
  nameOf: (userId: string) => string;
  open: boolean;
  onClose: () => void;
}

/** Bytes of a file that is no larger than any that a browser saves. */
const largestFile = 16 * 1024 * 1024;

export function ViewsDialog(props: ViewsProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onClose} title={t('views.title')}>
      <div className={styles.body}>
        <p>{t('views.lead')}</p>
        <SaveView conversationId={props.conversationId} />
        <CompareView {...props} />
        <p className={styles.muted}>{t('views.proof')}</p>
      </div>
    </Dialog>
  );
}

function SaveView({ conversationId }: Pick<ViewsProps, 'conversationId'>) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const [withTexts, setWithTexts] = useState(false);
  const hint = useId();

  async function save() {
    const name = `${productSlug()}-conversation-${dayInFileName(new Date())}.json`;
    const file = await openFile({ name, type: 'application/json' });
    if (file === null) return;
    const write = async () => {
      try {
        await file.write(await actions.saveView(conversationId, withTexts));
        await file.close();
      } catch (error) {
        await file.abort();
        throw error;
      }
    };
    await attempt(write, { success: t('views.saved'), failure: t('views.saveFailed') });
  }

  return (
    <section className={styles.part}>
      <div className={styles.choice}>
        <div>
          <p>{t('views.withTexts')}</p>
          <p className={styles.muted} id={hint}>
            {t('views.withTextsHint')}
          </p>
        </div>
        <Switch
          label={t('views.withTexts')}
          describedBy={hint}
          checked={withTexts}
          onCheckedChange={setWithTexts}
        />
      </div>
      <Button onClick={() => void save()}>{t('views.save')}</Button>
    </section>
  );
}

type Outcome = { readonly comparison: ViewComparison } | { readonly failure: MessageId };

function CompareView(props: ViewsProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const input = useRef<HTMLInputElement>(null);

  async function compare(file: File) {
    try {
      if (file.size > largestFile) return setOutcome({ failure: 'views.noSuchFile' });
      const comparison = await actions.compareView(props.conversationId, await file.text());
      setOutcome({ comparison });
    } catch (error) {
      setOutcome({ failure: failures[errorCode(error)] ?? 'views.compareFailed' });
    }
  }

  function onChange({ target }: ChangeEvent<HTMLInputElement>) {
    const file = target.files?.[0];
    if (file !== undefined) void compare(file);
    // So that the same file can be chosen again.
    target.value = '';
  }

  return (
    <section className={styles.part}>
      <input ref={input} type="file" accept=".json,application/json" hidden onChange={onChange} />
      <Button onClick={() => input.current?.click()}>{t('views.compare')}</Button>
      <div aria-live="polite" className={styles.outcome}>
        {outcome !== null &&
          ('failure' in outcome ? t(outcome.failure) : <Compared {...props} {...outcome.comparison} />)}
      </div>
    </section>
  );
}

/** Texts by the code of what is wrong with a file. */
const failures: Readonly<Partial<Record<FailureCode, MessageId>>> = {
  malformed: 'views.noSuchFile',
  usage: 'views.noSuchFile',
  'wrong-group': 'views.otherConversation',
  'bad-signature': 'views.changed',
  'invalid-credential': 'views.notMember',
  'unknown-person': 'views.notMember',
};

function Compared({ author, result, nameOf, ownId }: ViewsProps & ViewComparison) {
  const name = author.userId === ownId ? t('views.ownOther') : nameOf(author.userId);
  const parts = { name: <bdi>{name}</bdi> };
  return (
    <>
      {result.kind === 'same' && (
        <p>
          <RichText id="views.same" parts={parts} values={{ from: result.from, upTo: result.upTo }} />
        </p>
      )}
      {result.kind === 'earlier' && <p>{t('views.earlier', { position: result.position })}</p>}
      {result.kind === 'apart' && <p>{t('views.apart')}</p>}
      {result.kind === 'parts' && (
        <>
          <p>{t('views.parts', { position: result.position })}</p>
          <dl className={styles.both}>
            <dt>{t('views.here')}</dt>
            <dd>
              <Seen entry={result.here} nameOf={nameOf} ownId={ownId} />
            </dd>
            <dt>
              <RichText id="views.there" parts={parts} />
            </dt>
            <dd>
              <Seen entry={result.there} nameOf={nameOf} ownId={ownId} />
            </dd>
          </dl>
        </>
      )}
      <p className={styles.muted}>
        <RichText
          id="views.savedBy"
          parts={{ ...parts, time: <time dateTime={author.savedAt}>{fullTimestamp(author.savedAt)}</time> }}
        />
      </p>
    </>
  );
}

function Seen({ entry, nameOf, ownId }: Pick<ViewsProps, 'nameOf' | 'ownId'> & { entry: SeenEntry }) {
  const { kind, messageId, text, userId } = entry;
  const author = userId === ownId ? t('chat.you') : userId === null ? t('views.somebody') : nameOf(userId);
  const name = <bdi>{author}</bdi>;
  const isChangeOrFiles = kind !== null && kind !== 'text';
  if (text !== null && !isChangeOrFiles)
    return <RichText id="views.text" parts={{ name, text: <q>{text}</q> }} />;
  const messageKind = isChangeOrFiles ? (`views.${kind}` as const) : 'views.message';
  return (
    <>
      <RichText id={messageId === null ? 'views.other' : messageKind} parts={{ name }} />
      {text !== null && (
        <>
          {' '}
          <q>{text}</q>
        </>
      )}
    </>
  );
}
