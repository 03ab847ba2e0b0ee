import { sessionAtom } from './sessionAtom.ts';

/** The progress of the account's deletion; null while none is under way. */
export type DeletionProgress =
  | { readonly step: 'groups'; readonly done: number; readonly total: number }
  | { readonly step: 'account' };
export const deletionProgressAtom = sessionAtom<DeletionProgress | null>(null);

/** A data export for programs, or the same for people. */
export type ExportFormat = 'json' | 'html';

/** Messages written so far, of all there are (0 until they are counted); null while no data export is under way. */
export interface ExportProgress {
  readonly format: ExportFormat;
  readonly done: number;
  readonly total: number;
}
export const exportProgressAtom = sessionAtom<ExportProgress | null>(null);
