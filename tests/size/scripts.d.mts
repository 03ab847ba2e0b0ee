export interface Script {
  /** Bytes after brotli. */
  readonly size: number;
  readonly imports: readonly string[];
}

export type PageName = 'landing' | 'dashboard';

export const pages: Readonly<
  Record<PageName, { readonly chunks: readonly string[]; readonly limit: number }>
>;
export const perLanguage: readonly string[];
export function readScripts(dist: string): Map<string, Script>;
export function scriptsOf(page: PageName, dist: string, scripts: Map<string, Script>): string[];
export function chunkName(file: string): string;
