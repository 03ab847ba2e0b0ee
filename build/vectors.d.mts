export const selectedFile: string;
export function selectVectors(): readonly {
  readonly format: string;
  readonly source: string;
  readonly cases: readonly unknown[];
}[];
export function written(): string;
