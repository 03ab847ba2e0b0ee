export interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly code: string;
  /** The docstring: its sentences, then a line for each tag. */
  readonly prose: string;
  /** The sentences of the docstring that belong to no tag. */
  readonly sentences: string;
  /** The docstring says which errors are thrown. */
  readonly hasErrors: boolean;
}

export function exportsOf(folder: string, door: string): Entry[];
export function apiOf(folder: string): string;
export function withApi(readme: string, folder: string): string;
