import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { AttachedFile, FilePlace } from '../../store/files.ts';

/** Bytes above which a picture is not fetched before it is asked for. */
const fetchedAtOnce = 20 * 1024 * 1024;

interface Fetched {
  /** Null until it is there. */
  readonly url: string | null;
  /** A sentence on why it is not. */
  readonly problem: string | null;
  readonly retry: () => void;
}

/** Fetches a picture while it is in sight. What was fetched is gone with the element: deleted messages leave nothing here. */
export function useFileUrl(
  { conversationId, index, messageId }: FilePlace,
  file: AttachedFile,
  wanted: boolean,
): Fetched {
  const actions = useAtomValue(requiredActionsAtom);
  const [state, setState] = useState<Omit<Fetched, 'retry'>>({ url: null, problem: null });
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    if (!wanted || (file.size > fetchedAtOnce && attempts === 0)) return undefined;
    let url: string | null = null;
    let isOver = false;
    setState({ url: null, problem: null });
    void (async () => {
      try {
        const blob = await (await actions.files()).read({ conversationId, messageId, index }, file);
        if (isOver) return;
        url = URL.createObjectURL(blob);
        setState({ url, problem: null });
      } catch (error) {
        if (!isOver) setState({ url: null, problem: errorText(error, t('files.readFailed')) });
      }
    })();
    return () => {
      isOver = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
    // The file is a part of its message, of which each drawing may have another copy.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [actions, attempts, conversationId, index, messageId, wanted, file.size]);
  return { ...state, retry: () => setAttempts((before) => before + 1) };
}
