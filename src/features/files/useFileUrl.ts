import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { AttachedFile, FilePlace } from '../../store/files.ts';
import { checkPicture } from './pictureHeader.ts';

interface Fetched {
  /** Null until it is there. */
  readonly url: string | null;
  /** A sentence on why it is not. */
  readonly problem: string | null;
  /** Null where it came, and is nothing to be shown. */
  readonly retry: (() => void) | null;
  /** Called where the element can't show it. */
  readonly fail: () => void;
}

interface State extends Pick<Fetched, 'problem' | 'url'> {
  readonly isUnshown: boolean;
  /** The picture that this is about, by its place. */
  readonly of: string | null;
}
const idle: State = { url: null, problem: null, isUnshown: false, of: null };
/** Codes of {@link checkPicture}. */
const unshown: ReadonlySet<unknown> = new Set(['usage', 'unsupported']);

/**
 * Fetches a picture while it is in sight. What was fetched is gone with the element: deleted messages leave nothing here. An
 * element that goes on to another picture never has the one before it, not even until the effect has run.
 */
export function useFileUrl(
  { conversationId, index, messageId }: FilePlace,
  file: AttachedFile,
  wanted: boolean,
): Fetched {
  const actions = useAtomValue(requiredActionsAtom);
  const [state, setState] = useState(idle);
  const [attempts, setAttempts] = useState(0);
  const of = `${conversationId}/${messageId}/${index}`;
  useEffect(() => {
    setState(idle);
    if (!wanted) return undefined;
    let url: string | null = null;
    let isOver = false;
    void (async () => {
      try {
        const blob = await (await actions.files()).read({ conversationId, messageId, index }, file);
        // The sender's word for its pixels is no reason to believe them.
        await checkPicture(blob);
        if (isOver) return;
        url = URL.createObjectURL(blob);
        setState({ ...idle, of, url });
      } catch (error) {
        if (isOver) return;
        const problem = errorText(error, t('files.readFailed'));
        setState({ url: null, problem, isUnshown: unshown.has(errorCode(error)), of });
      }
    })();
    return () => {
      isOver = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
    // The file is a part of its message, of which each drawing may have another copy.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [actions, attempts, of, wanted, file.size]);
  const { isUnshown, problem, url } = state.of === of ? state : idle;
  return {
    url,
    problem,
    retry: isUnshown ? null : () => setAttempts((before) => before + 1),
    fail: () => setState({ url: null, problem: t('files.pictureUnreadable'), isUnshown: true, of }),
  };
}
