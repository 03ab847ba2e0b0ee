import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { type AppActions, requiredActionsAtom } from '../../store/actions.ts';
import type { Person } from '../../store/contacts.ts';

/** Characters after trimming (spec section 9). */
const searchMinimum = 2;
/** Milliseconds of rest after the last key before a search starts. */
const searchDelay = 300;

type SearchOutcome =
  | { readonly status: 'found'; readonly query: string; readonly results: readonly Person[] }
  | { readonly status: 'failed'; readonly query: string; readonly message: string };

export type UserSearch = { readonly status: 'idle' } | { readonly status: 'searching' } | SearchOutcome;

/** Searches a moment after the last key; an answer to an older query is dropped. */
export function useUserSearch(input: string): UserSearch {
  const actions = useAtomValue(requiredActionsAtom);
  const [outcome, setOutcome] = useState<SearchOutcome | null>(null);
  const query = input.trim();
  const wanted = query.length >= searchMinimum;

  useEffect(() => {
    if (!wanted) return undefined;
    let current = true;
    async function search() {
      const next = await outcomeOf(query, actions);
      if (current) setOutcome(next);
    }
    const timer = setTimeout(() => void search(), searchDelay);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [query, wanted, actions]);

  if (!wanted) return { status: 'idle' };
  return outcome?.query === query ? outcome : { status: 'searching' };
}

async function outcomeOf(query: string, actions: AppActions): Promise<SearchOutcome> {
  try {
    return { status: 'found', query, results: await actions.searchUsers(query) };
  } catch (error) {
    return { status: 'failed', query, message: errorText(error, t('contacts.searchFailed')) };
  }
}
