import { useAtom, useAtomValue, useSetAtom } from 'jotai';
import { Mic, Paperclip } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { ConversationKey, MessageView } from '../../store/chats.ts';
import { type ChosenFile, chosenFilesAtom } from '../../store/chosenFiles.ts';
import type { NewFile } from '../../store/files.ts';
import { withMentionLinksAtom } from '../../store/mentions.ts';
import { IconButton } from '../../ui/Button.tsx';
import { onDemand, useOnDemand } from '../../ui/onDemand.tsx';
import type { FileTrayProps } from './FileTray.tsx';
import styles from './useFiles.module.css';

const FileTray = onDemand<FileTrayProps>(async () => (await import('./FileTray.tsx')).FileTray);
const loadRecorder = async () => (await import('./VoiceRecorder.tsx')).VoiceRecorder;
const none: readonly ChosenFile[] = [];
/** UTF-16 units that the worker takes beside files. */
const longestCaption = 16 * 1024;

interface Form {
  readonly context: { readonly kind: string; readonly message: Pick<MessageView, 'messageId'> } | null;
  readonly draft: string;
  readonly onDraftChange: (draft: string) => void;
  readonly onSend: () => void;
  readonly onCancel: () => void;
}

/** Returns a conversation's form with files: those that are chosen, pasted or dropped go with its text, as their caption. */
export function useFiles<F extends Form>(key: ConversationKey, form: F) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const withLinks = useAtomValue(withMentionLinksAtom);
  const [all, setAll] = useAtom(chosenFilesAtom);
  const chosen = all[key] ?? none;
  const input = useRef<HTMLInputElement>(null);
  const [isRecording, setRecording] = useState(false);
  const Recorder = useOnDemand(loadRecorder, isRecording);
  const set = (change: (files: readonly ChosenFile[]) => readonly ChosenFile[]) =>
    setAll((before) => ({ ...before, [key]: change(before[key] ?? none) }));

  function choose(files: readonly File[]): void {
    if (files.length === 0) return;
    void attempt(
      async () => {
        const { chooseFiles } = await import('./choose.ts');
        await chooseFiles(files, { set, count: chosen.length + files.length, actions });
      },
      { failure: t('files.chooseFailed') },
    );
  }

  const onChoose = useRef(choose);
  useEffect(() => {
    onChoose.current = choose;
  });
  useEffect(() => {
    // Anywhere in the window: whoever drops a picture beside the form means the chat that is open.
    const filesIn = (data: DataTransfer | null) => [...(data?.files ?? [])];
    const isInDialog = ({ target }: Event) =>
      target instanceof Element && target.closest('[role=dialog]') !== null;
    const onPaste = (event: ClipboardEvent) => {
      const files = filesIn(event.clipboardData);
      if (files.length === 0 || isInDialog(event)) return;
      event.preventDefault();
      onChoose.current(files);
    };
    const onDrag = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') === true && !isInDialog(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      const files = filesIn(event.dataTransfer);
      if (files.length === 0 || isInDialog(event)) return;
      event.preventDefault();
      onChoose.current(files);
    };
    document.addEventListener('paste', onPaste);
    document.addEventListener('dragover', onDrag);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('paste', onPaste);
      document.removeEventListener('dragover', onDrag);
      document.removeEventListener('drop', onDrop);
    };
  }, []);

  const ready = chosen.flatMap(({ description, file }) =>
    file === null ? [] : [{ ...file, facts: { ...file.facts, description: description.trim() } }],
  );
  const isReady = chosen.length > 0 && ready.length === chosen.length;

  function send(): void {
    if (chosen.length === 0 || form.context?.kind === 'edit') return form.onSend();
    if (!isReady) return;
    void sendFiles(ready);
  }

  async function sendFiles(files: readonly NewFile[]): Promise<void> {
    const { context, draft } = form;
    const answered = context === null ? [] : ([context.message.messageId] as const);
    const hasRoom = draft.length <= longestCaption;
    const isSent = await attempt(
      async () => {
        if (!hasRoom) throw new AppError('usage', t('chat.tooLong'));
        set(() => none);
        form.onDraftChange('');
        if (context !== null) form.onCancel();
        await (await actions.files()).send(key, withLinks(key, draft), files, ...answered);
      },
      { failure: t('files.uploadFailed') },
    );
    if (isSent || !hasRoom) return;
    if (files === ready) set((since) => (since.length > 0 ? since : chosen));
    else keepVoice(...files);
    form.onDraftChange(draft);
  }

  function keepVoice(...voices: readonly NewFile[]): void {
    const entries = voices.map(
      (file): ChosenFile => ({
        id: crypto.randomUUID(),
        name: file.facts.name,
        file,
        problem: null,
        description: '',
      }),
    );
    set((before) => [...before, ...entries]);
  }

  return {
    ...form,
    onSend: send,
    files: {
      /** Nothing goes before all of them are ready. */
      isReady: chosen.length === 0 ? null : isReady,
      /** In the place of the form's button while there is nothing to send; null where nothing can be recorded. */
      voice: canRecord() ? (
        <IconButton
          label={t('files.voiceRecord')}
          icon={<Mic aria-hidden="true" />}
          onClick={() => setRecording(true)}
        />
      ) : null,
      /** In the place of the form's fields; null while nothing is recorded. */
      recorder:
        isRecording && Recorder !== null ? (
          // oxlint-disable-next-line react/static-components -- it is loaded once, and stays the same
          <Recorder
            onEnd={() => setRecording(false)}
            onKeep={keepVoice}
            onSend={(voice) => void sendFiles([voice])}
          />
        ) : null,
      above: <FileTray open={chosen.length > 0} files={chosen} onChange={set} />,
      button: (
        <>
          <IconButton
            label={t('files.attach')}
            icon={<Paperclip aria-hidden="true" />}
            onClick={() => input.current?.click()}
          />
          <input
            ref={input}
            className={styles.input}
            type="file"
            multiple
            tabIndex={-1}
            aria-hidden="true"
            onChange={({ currentTarget }) => {
              choose([...(currentTarget.files ?? [])]);
              currentTarget.value = '';
            }}
          />
        </>
      ),
    },
  };
}

function canRecord(): boolean {
  return 'MediaRecorder' in window && 'mediaDevices' in navigator;
}

/** The parts of a form that files add to it. */
export type FormFiles = ReturnType<typeof useFiles>['files'];
