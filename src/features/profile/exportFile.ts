import { dayInFileName, type FileSink, openFile } from '../../lib/fileSink.ts';
import { productSlug } from '../../operator/index.ts';
import type { ExportFormat } from '../../store/account.ts';

const types = {
  json: 'application/json',
  html: 'text/html',
  zip: 'application/zip',
} as const satisfies Record<ExportFormat | 'zip', string>;

/**
 * The file of a data export, named by the local day.
 * @returns null when the person wants no file after all
 */
export async function openExportFile(format: ExportFormat | 'zip', now: Date): Promise<FileSink | null> {
  const name = `${productSlug()}-user-data-${dayInFileName(now)}.${format}`;
  return openFile({ name, type: types[format] });
}
