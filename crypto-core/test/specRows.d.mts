export interface ListedCheck {
  readonly section: string;
  readonly id: string;
  /** From the folder of crypto-core. */
  readonly file: string;
  readonly test: string;
}

export function specText(): string;
export function rowsUnder(heading: string): string[][];
export function listedChecks(): ListedCheck[];
