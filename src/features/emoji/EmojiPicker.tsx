import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import {
  Apple,
  Hash,
  LayoutGrid,
  Lightbulb,
  type LucideIcon,
  PawPrint,
  Plane,
  SearchX,
  Smile,
  Trophy,
  UserRound,
} from 'lucide-react';
import { type KeyboardEvent, useContext, useDeferredValue, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { SearchInput } from '../../ui/SearchInput.tsx';
import { useMediaQuery } from '../../ui/useMediaQuery.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import type { EmojiCategory } from './data.ts';
import { EmojiGrid, type EmojiGridHandle, type EmojiSection } from './EmojiGrid.tsx';
import styles from './EmojiPicker.module.css';
import { type EmojiSet, findEmojis, toned } from './emojis.ts';
import { type EmojiMemory, EmojiMemoryContext } from './memory.ts';
import { SkinTones } from './SkinTones.tsx';

const categoryIcons: Readonly<Record<EmojiCategory, LucideIcon>> = {
  all: LayoutGrid,
  smileys: Smile,
  people: UserRound,
  animals: PawPrint,
  food: Apple,
  activities: Trophy,
  travel: Plane,
  symbols: Hash,
  objects: Lightbulb,
};

interface EmojiPickerProps {
  emojis: EmojiSet;
  /** The buttons; a search finds emojis of the others, too. */
  categories: readonly EmojiCategory[];
  onPick: (emoji: string) => void;
}

/** A search box, buttons of categories and the grid of emojis (spec section 2). */
export function EmojiPicker({ emojis, categories, onPick }: EmojiPickerProps) {
  const memory = useContext(EmojiMemoryContext);
  // On a touch screen the keyboard would cover the emojis.
  const hasMouse = useMediaQuery('(hover: hover)');
  const [query, setQuery] = useState('');
  const [category, setCategory] = useState<EmojiCategory>('all');
  const search = useRef<HTMLInputElement>(null);
  const grid = useRef<EmojiGridHandle>(null);

  // Many match a single letter: typing must not wait for them to be drawn.
  const drawnQuery = useDeferredValue(query);
  const sections = sectionsOf(emojis, { query: drawnQuery, category, memory });

  function pick(emoji: string) {
    memory.remember(emoji);
    onPick(emoji);
  }

  function onSearchKey(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const [first] = sectionsOf(emojis, { query, category, memory })[0]?.cells ?? [];
    if (event.key === 'ArrowDown') grid.current?.focus();
    else if (event.key === 'Enter' && query.trim() !== '' && first !== undefined) pick(first.character);
    else return;
    event.preventDefault();
  }

  return (
    <>
      <div className={styles.head}>
        <SearchInput
          ref={search}
          label={t('emoji.search')}
          placeholder={t('emoji.searchPlaceholder')}
          value={query}
          onValueChange={setQuery}
          onKeyDown={onSearchKey}
          focusOnMount={hasMouse}
        />
        <ToggleGroup
          className={styles.categories}
          aria-label={t('emoji.categories')}
          value={[category]}
          onValueChange={([next]) => setCategory(next ?? category)}
        >
          {categories.map((name) => {
            const Icon = categoryIcons[name];
            const label = t(`emoji.category.${name}`);
            return (
              <Toggle key={name} value={name} className={styles.category} aria-label={label} title={label}>
                <Icon aria-hidden="true" />
              </Toggle>
            );
          })}
        </ToggleGroup>
      </div>
      <div className={styles.body}>
        {sections.length === 0 && (
          <EmptyState
            icon={<SearchX />}
            {...(category !== 'all' && {
              action: <Button onClick={() => setCategory('all')}>{t('emoji.searchAll')}</Button>,
            })}
          >
            {t('emoji.none')}
          </EmptyState>
        )}
        {sections.length > 0 && (
          <EmojiGrid
            ref={grid}
            label={t('emoji.grid')}
            sections={sections}
            onPick={pick}
            onLeaveUpwards={() => search.current?.focus()}
          />
        )}
        <VisuallyHidden as="output">
          {drawnQuery.trim() !== '' && t('emoji.found', { count: sections[0]?.cells.length ?? 0 })}
        </VisuallyHidden>
      </div>
      <SkinTones value={memory.tone} onValueChange={memory.chooseTone} />
    </>
  );
}

interface PickerQuery {
  readonly query: string;
  readonly category: EmojiCategory;
  readonly memory: EmojiMemory;
}

/** Returns the sections without empty ones. */
function sectionsOf(set: EmojiSet, { query, category, memory }: PickerQuery): EmojiSection[] {
  const untouched = category === 'all' && query.trim() === '';
  const shown = untouched ? set.common : findEmojis(set.emojis, { query, category });
  const cells = shown.map((entry) => ({ character: toned(entry, memory.tone), name: entry.name }));
  const recent = memory.recent.flatMap((character) => {
    const entry = set.byCharacter.get(character);
    return entry === undefined ? [] : [{ character, name: entry.name }];
  });
  const sections =
    untouched && recent.length > 0
      ? [
          { title: t('emoji.recent'), cells: recent },
          { title: t('emoji.common'), cells },
        ]
      : [{ title: null, cells }];
  return sections.filter((section) => section.cells.length > 0);
}
