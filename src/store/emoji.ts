import '../lib/zodConfig.ts';
import { atom } from 'jotai';
import * as z from 'zod/mini';
import { createKeyedQueue } from '../lib/keyedQueue.ts';
import { requiredActionsAtom } from './actions.ts';
import { sessionAtom } from './sessionAtom.ts';

const emojiEntry = 'emoji';
/** Two rows of the picker. */
const recentMax = 16;

const memorySchema = z.object({
  /** Characters, the one picked last first. */
  recent: z.catch(
    z.array(z.string().check(z.minLength(1), z.maxLength(40))).check(z.maxLength(recentMax)),
    [],
  ),
  /** 0 for none, then from 1 for light to 5 for dark. */
  tone: z.catch(z.literal([0, 1, 2, 3, 4, 5]), 0),
});

/** The memory of the emoji picker, as it is kept: sealed, in this browser. */
export type KeptEmojis = Readonly<z.infer<typeof memorySchema>>;

const nothing: KeptEmojis = { recent: [], tone: 0 };

function parseMemory(text: string | null): KeptEmojis {
  try {
    return memorySchema.parse(JSON.parse(text ?? ''));
  } catch {
    return nothing;
  }
}

const keptAtom = sessionAtom(nothing);
export const emojiMemoryAtom = atom((get) => get(keptAtom));

/** Reads what is kept. A browser that can't read it begins anew: it is a convenience only. */
export const loadEmojiMemoryAtom = atom(null, async (get, set) => {
  const text = await get(requiredActionsAtom)
    .readLocal(emojiEntry)
    .catch(() => null);
  set(keptAtom, () => parseMemory(text));
});

const queue = createKeyedQueue();

/** Changes what is shown at once, and what is kept: as it is by then, since another tab may have changed it, too. */
const changeAtom = atom(null, async (get, set, change: (memory: KeptEmojis) => KeptEmojis) => {
  const actions = get(requiredActionsAtom);
  set(keptAtom, change);
  await queue(emojiEntry, async () => {
    const kept = parseMemory(await actions.readLocal(emojiEntry));
    await actions.writeLocal(emojiEntry, JSON.stringify(change(kept)));
  }).catch(() => undefined);
});

export const rememberEmojiAtom = atom(null, (_get, set, emoji: string) =>
  set(changeAtom, ({ recent, tone }) => ({
    recent: [emoji, ...recent.filter((other) => other !== emoji)].slice(0, recentMax),
    tone,
  })),
);

export const chooseSkinToneAtom = atom(null, (_get, set, tone: KeptEmojis['tone']) =>
  set(changeAtom, ({ recent }) => ({ recent, tone })),
);
