import { useAtomValue } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { AttachedFile, FilePlace } from '../../store/files.ts';

/** Bytes that are held in memory where no service worker answers. */
const heldWhole = 20 * 1024 * 1024;

/** A sound or film for an element. */
export interface Media {
  /** Null before it is wanted and while it comes. */
  readonly url: string | null;
  readonly isLoading: boolean;
  /** A sentence on why it doesn't play; null for none. */
  readonly problem: string | null;
  /** Called by the press that starts it. */
  readonly load: () => void;
  /** Called where the element can't play it. */
  readonly fail: () => void;
}

interface Source {
  readonly url: string;
  readonly isStream: boolean;
  problem(): string | null;
  end(): void;
}

type State = Pick<Media, 'isLoading' | 'problem' | 'url'>;
const idle: State = { url: null, isLoading: false, problem: null };

/** A sound or film of a message: nothing of it is fetched before it is played, and nothing stays once the player is gone. */
export function useMedia(place: FilePlace, file: AttachedFile): Media {
  const actions = useAtomValue(requiredActionsAtom);
  const [state, setState] = useState(idle);
  const source = useRef<Source | null>(null);
  const isOver = useRef(false);
  useEffect(() => {
    isOver.current = false;
    return () => {
      isOver.current = true;
      source.current?.end();
    };
  }, []);

  async function open(mayStream: boolean): Promise<void> {
    setState({ ...idle, isLoading: true });
    try {
      const files = await actions.files();
      const stream = mayStream ? await files.stream(place, file) : null;
      if (stream === null && file.size > heldWhole)
        throw new AppError('unsupported', t('files.unplayedLarge'));
      const opened = stream === null ? held(await files.read(place, file)) : { ...stream, isStream: true };
      if (isOver.current) return opened.end();
      source.current = opened;
      setState({ ...idle, url: opened.url });
    } catch (error) {
      if (!isOver.current) setState({ ...idle, problem: errorText(error, t('files.readFailed')) });
    }
  }

  function fail(): void {
    const failed = source.current;
    source.current = null;
    failed?.end();
    const problem = failed?.problem() ?? null;
    // A service worker of a version before this one has no answer.
    if (failed?.isStream === true && problem === null && file.size <= heldWhole) void open(false);
    else setState({ ...idle, problem: problem ?? t('files.unplayable') });
  }

  return { ...state, load: () => void open(true), fail };
}

/** A recording of this page that is still to be sent. */
export function useOwnMedia(blob: Blob): Media {
  const [state, setState] = useState(idle);
  const { url } = state;
  useEffect(() => () => (url === null ? undefined : URL.revokeObjectURL(url)), [url]);
  return {
    ...state,
    load: () => setState({ ...idle, url: URL.createObjectURL(blob) }),
    fail: () => setState({ ...idle, problem: t('files.unplayable') }),
  };
}

function held(blob: Blob): Source {
  const url = URL.createObjectURL(blob);
  return { url, isStream: false, problem: () => null, end: () => URL.revokeObjectURL(url) };
}
