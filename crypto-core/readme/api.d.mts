export interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly code: string;
  readonly prose: string;
}

export function exportsOf(folder: string, door: string): Entry[];
export function apiOf(folder: string): string;
export function withApi(readme: string, folder: string): string;
