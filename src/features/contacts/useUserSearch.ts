import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { Person } from '../../store/contacts.ts';
import { contactTexts, searchDelay, searchMinimum } from './texts.ts';

export type UserSearch =
  | { readonly status: 'idle' }
  | { readonly status: 'searching' }
  | { readonly status: 'found'; readonly query: string; readonly results: readonly Person[] }
  | { readonly status: 'failed'; readonly message: string };

/** Searches a moment after the last key; an answer to an older query is dropped. */
export function useUserSearch(input: string): UserSearch {
  const actions = useAtomValue(requiredActionsAtom);
  const [search, setSearch] = useState<UserSearch>({ status: 'idle' });
  const query = input.trim();

  useEffect(() => {
    if (query.length < searchMinimum) {
      setSearch({ status: 'idle' });
      return;
    }
    let current = true;
    const timer = setTimeout(() => {
      setSearch({ status: 'searching' });
      void actions
        .searchUsers(query)
        .then(
          (results): UserSearch => ({ status: 'found', query, results }),
          (error: unknown): UserSearch => ({
            status: 'failed',
            message: errorText(error, contactTexts.searchFailed),
          }),
        )
        .then((outcome) => {
          if (current) setSearch(outcome);
        });
    }, searchDelay);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [query, actions]);

  return search;
}
