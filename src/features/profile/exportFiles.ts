import { noFile, openFile } from '../../lib/fileSink.ts';
import { productSlug } from '../../operator/index.ts';
import type { ExportFiles } from '../../store/account.ts';

/**
 * The files of a data export, named by the local day.
 * @returns null when the person doesn't want the JSON file; the readable one alone can be declined
 */
export async function openExportFiles(now: Date): Promise<ExportFiles | null> {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
  const name = `${productSlug}-user-data-${day}`;
  const data = await openFile({ name: `${name}.json`, type: 'application/json' });
  if (data === null) return null;
  const page = await openFile({ name: `${name}.html`, type: 'text/html' });
  return { data, page: page ?? noFile };
}
