import { useEffect, useState } from 'react';
import { activeLocale } from '../../i18n/i18n.ts';
import type { EmojiPicker } from './EmojiPicker.tsx';
import type { EmojiSet } from './emojis.ts';

/** The code and data of an open picker: a reader needs neither, so they load when the picker is about to open. */
interface LoadedPicker {
  readonly EmojiPicker: typeof EmojiPicker;
  readonly emojis: EmojiSet;
}

let loaded: LoadedPicker | null = null;

async function load(): Promise<LoadedPicker> {
  const [{ EmojiPicker }, { loadEmojis }] = await Promise.all([
    import('./EmojiPicker.tsx'),
    import('./emojis.ts'),
  ]);
  loaded = { EmojiPicker, emojis: await loadEmojis(activeLocale() === 'fi' ? 'fi' : 'en') };
  return loaded;
}

/** Loads the picker before it is asked for, so that it opens at once. */
export function preloadPicker(): void {
  if (loaded === null) load().catch(() => undefined);
}

/** Loads the picker while it is wanted; after a failure when it is tried again. */
export function usePicker(wanted: boolean) {
  const [picker, setPicker] = useState<LoadedPicker | 'loading' | 'failed'>('loading');
  useEffect(() => {
    if (!wanted || picker !== 'loading') return undefined;
    let current = true;
    load().then(
      (ready) => current && setPicker(ready),
      () => current && setPicker('failed'),
    );
    return () => {
      current = false;
    };
  }, [wanted, picker]);
  return { picker: loaded ?? picker, retry: () => setPicker('loading') };
}
