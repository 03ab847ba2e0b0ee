import { useAtomValue } from 'jotai';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { galleryAtom, type ShelfName } from '../../store/gallery.ts';
import { type GalleryItem, itemsOf } from './galleryItems.ts';

export interface LoadedShelf {
  readonly items: readonly GalleryItem[];
  /** Differs from page to page, as long as there are more. */
  readonly page: number | null;
  readonly isAtEnd: boolean;
  readonly isLoading: boolean;
  /** A sentence; null while nothing has failed. */
  readonly failure: string | null;
  /** Loads the next page, unless that is under way. */
  readonly load: () => void;
}

/** Returns a shelf of the open gallery, and goes on to look until there is something to show. */
export function useShelf(key: ConversationKey, name: ShelfName): LoadedShelf {
  const actions = useAtomValue(requiredActionsAtom);
  const shelf = useAtomValue(galleryAtom)?.shelves[name];
  const [state, setState] = useState<Pick<LoadedShelf, 'failure' | 'isLoading'>>({
    failure: null,
    isLoading: false,
  });
  const isUnderWay = useRef(false);
  const items = useMemo(() => itemsOf(shelf?.messages ?? [], name), [shelf, name]);
  const page = shelf?.before ?? null;
  const isAtEnd = shelf?.before === null;

  async function load(): Promise<void> {
    if (isUnderWay.current || isAtEnd) return;
    isUnderWay.current = true;
    setState((before) => ({ ...before, isLoading: true }));
    let failure: string | null = null;
    try {
      await (await actions.files()).loadGallery(key, name);
    } catch (error) {
      failure = errorText(error, t('gallery.failed'));
    }
    isUnderWay.current = false;
    setState({ failure, isLoading: false });
  }

  const begin = useEffectEvent(() => void load());
  const isLookedFor = items.length === 0 && !isAtEnd && state.failure === null;
  /** The page that is to be looked at while nothing was found; null for none. */
  const sought = isLookedFor ? (page ?? Number.POSITIVE_INFINITY) : null;
  useEffect(() => {
    if (sought !== null) begin();
  }, [sought]);

  return { ...state, items, page, isAtEnd, load: () => void load() };
}
