interface Share {
  readonly number: number;
  readonly of: number;
}
export const share: Share | undefined;
export function shareOf(text: string | undefined): Share | undefined;
export function inOtherShares(names: readonly string[], part: Share | undefined): string[];
export function leftToOthers(folder: string, isAsked?: (name: string) => boolean): string[];
