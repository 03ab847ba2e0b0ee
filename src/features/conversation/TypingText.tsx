import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { nameOfAtom } from '../../store/names.ts';
import type { Writer } from '../../store/typing.ts';

/** Says by name that one or two people are writing, and of more that they are several. */
export function TypingText({ writers }: { writers: readonly Writer[] }) {
  const nameOf = useAtomValue(nameOfAtom);
  const [first, second, ...others] = writers;
  if (first === undefined || others.length > 0) return t('typing.several');
  const name = <bdi>{nameOf(first.userId)}</bdi>;
  if (second === undefined) return <RichText id="typing.one" parts={{ name }} />;
  return <RichText id="typing.two" parts={{ name, other: <bdi>{nameOf(second.userId)}</bdi> }} />;
}
