import { t } from './i18n.ts';

/** The name of a file as people read it, or words in its place. */
export function fileName({ name }: { readonly name: string }): string {
  return name || t('files.nameless');
}
