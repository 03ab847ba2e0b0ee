export interface Mutant {
  readonly name: string;
  readonly line: number;
}

export function mutate(
  file: string,
  code: string,
): { readonly code: string; readonly mutants: readonly Mutant[] };
export function checkOf(name: string): string | null;
export const CHECKED_FOLDERS: readonly string[];
