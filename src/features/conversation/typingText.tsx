import type { ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import type { Writer } from '../../store/typing.ts';

/** Says by name that one or two people are writing, and of more that they are several. */
export function typingText(writers: readonly Writer[], nameOf: (userId: string) => string): ReactNode {
  const [first, second, ...others] = writers;
  if (first === undefined || others.length > 0) return t('typing.several');
  const name = <bdi>{nameOf(first.userId)}</bdi>;
  if (second === undefined) return <RichText id="typing.one" parts={{ name }} />;
  return <RichText id="typing.two" parts={{ name, other: <bdi>{nameOf(second.userId)}</bdi> }} />;
}
