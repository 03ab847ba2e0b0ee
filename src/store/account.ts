import { sessionAtom } from './sessionAtom.ts';

/** The progress of the account's deletion; null while none is under way. */
export type DeletionProgress =
  | { readonly step: 'groups'; readonly done: number; readonly total: number }
  | { readonly step: 'account' };
export const deletionProgressAtom = sessionAtom<DeletionProgress | null>(null);

/** A data export for programs, or the same for people. */
export type ExportFormat = 'json' | 'html';

/** How much the files of all messages are. */
export interface FilesMeasure {
  readonly count: number;
  readonly bytes: number;
}

/** How many files a data export has whole, and how many it could not have. */
export interface ExportedFiles {
  readonly written: number;
  readonly missing: number;
}

/** Bytes of files, then messages, written so far of all there are (0 until they are counted); null while no data export is under way. */
export interface ExportProgress {
  readonly format: ExportFormat;
  readonly unit: 'bytes' | 'messages';
  readonly done: number;
  readonly total: number;
}
export const exportProgressAtom = sessionAtom<ExportProgress | null>(null);
