/** A list that loads once with an indicator and then refreshes quietly (spec section 4). */
export interface LoadedList<T> {
  /** Before the relay has answered: what this browser has kept of its last answer. */
  readonly items: readonly T[];
  readonly loading: boolean;
  /** True once the relay has answered in this session: only then is an empty list known to be empty. */
  readonly loaded: boolean;
  /** The sentence of the first load's failure; cleared on success. */
  readonly error: string | null;
}

export const unloadedList: LoadedList<never> = { items: [], loading: false, loaded: false, error: null };
