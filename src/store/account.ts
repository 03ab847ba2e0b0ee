import type { FileSink } from '../lib/fileSink.ts';
import { sessionAtom } from './sessionAtom.ts';

/** How far the deletion of the account has come; null while none is under way. */
export type DeletionProgress =
  | { readonly step: 'groups'; readonly done: number; readonly total: number }
  | { readonly step: 'account' };
export const deletionProgressAtom = sessionAtom<DeletionProgress | null>(null);

/** Messages written so far, of all there are (0 until they are counted); null while no data export is under way. */
export interface ExportProgress {
  readonly done: number;
  readonly total: number;
}
export const exportProgressAtom = sessionAtom<ExportProgress | null>(null);

/** What a data export writes: the same for programs (JSON) and for people (HTML). */
export interface ExportFiles {
  readonly data: FileSink;
  readonly page: FileSink;
}
