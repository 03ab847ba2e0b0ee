import type * as z from 'zod/mini';
import type { Deps } from '../core/deps.ts';
import { parsedJson } from '../core/parsedJson.ts';

/** Reads local entries by the start of their names, and drops those that can't be read, so that they stop no other. */
export async function readLocalEntries<T>(
  { crypto, log }: Pick<Deps, 'crypto' | 'log'>,
  prefix: string,
  schema: z.ZodMiniType<T>,
): Promise<{ readonly name: string; readonly value: T }[]> {
  const entries: { name: string; value: T }[] = [];
  for (const { name, text } of await crypto.localEntries(prefix)) {
    const { data, success } = schema.safeParse(parsedJson(text));
    if (success) entries.push({ name, value: data });
    else {
      log.warn('local-entry-damaged');
      await crypto.writeLocal(name, null);
    }
  }
  return entries;
}
