import { I18nProvider, Trans } from '@lingui/react';
import type { ReactElement } from 'react';
import type { MessageId } from './catalogue.ts';
import { i18n } from './i18n.ts';

interface RichTextProps {
  id: MessageId;
  /** By the names in the text: `<link>…</link>` wraps its words, `<name/>` stands by itself. */
  parts: Readonly<Record<string, ReactElement>>;
  /** Numbers that choose the plural form. */
  values?: Readonly<Record<string, number>>;
}

/** A text with elements in it. Text that people wrote goes in as an element: as a value it could look like a tag. */
export function RichText({ id, parts, values }: RichTextProps) {
  return (
    <I18nProvider i18n={i18n}>
      <Trans id={id} components={parts} values={{ ...values }} />
    </I18nProvider>
  );
}
