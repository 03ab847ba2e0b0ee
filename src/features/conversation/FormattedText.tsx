import { clsx } from 'clsx';
import { useAtomValue } from 'jotai';
import { Fragment, type ReactNode, useContext, useMemo } from 'react';
import { type MarkdownNode, parseMarkdown } from '../../lib/markdown.ts';
import { ownOrOtherNameAtom, withMentionNames } from '../../store/mentions.ts';
import { currentUserAtom } from '../../store/session.ts';
import styles from './FormattedText.module.css';
import { MessageLink } from './MessageLink.tsx';
import { MentionableContext } from './mentionable.ts';

/** The beginning of a mention that a fold has cut. */
const cutMention = /\[@[^)]{0,300}$/;

interface FormattedTextProps {
  text: string;
  /** Code units that are shown; fewer than there are for a folded one. */
  length: number;
  /** Stands in for a text that can't be shown formatted. */
  children: ReactNode;
}

/** A message's Markdown, drawn from the tree that was read of it: nothing of it is ever HTML. */
export function FormattedText({ text, length, children }: FormattedTextProps) {
  const isWhole = length === text.length;
  const nodes = useMemo(
    // Folded as it stands where the whole couldn't be shown otherwise.
    () =>
      parseMarkdown(text) === null
        ? null
        : parseMarkdown(isWhole ? text : `${text.slice(0, length).replace(cutMention, '')}…`),
    [text, length, isWhole],
  );
  return nodes === null ? children : <div className={styles.formatted}>{drawn(nodes)}</div>;
}

function drawn(nodes: readonly MarkdownNode[]): ReactNode {
  return nodes.map((node, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- nodes of one text never change places
    <Fragment key={index}>{drawnNode(node)}</Fragment>
  ));
}

/** Code stays as it was written, but for a name, which was written as one. */
function Code({ text }: { text: string }): ReactNode {
  return withMentionNames(text, useAtomValue(ownOrOtherNameAtom));
}

/** A person by the name that they have now; text alone where they aren't in the conversation. */
function Mention({ userId }: { userId: string }): ReactNode {
  const name = useAtomValue(ownOrOtherNameAtom)(userId);
  const isOwn = useAtomValue(currentUserAtom)?.id === userId;
  const isHere = useContext(MentionableContext).has(userId);
  return <bdi className={clsx(isHere && styles.mention, isHere && isOwn && styles.ownMention)}>@{name}</bdi>;
}

function drawnNode(node: MarkdownNode): ReactNode {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'code':
      return (
        <code className={styles.code} dir="ltr">
          <Code text={node.text} />
        </code>
      );
    case 'codeBlock':
      return (
        <pre className={styles.block} dir="ltr">
          {node.name !== '' && <small className={styles.name}>{node.name}</small>}
          <code>
            <Code text={node.text} />
          </code>
        </pre>
      );
    case 'mention':
      return <Mention userId={node.userId} />;
    case 'link':
      return <MessageLink link={node.link}>{drawn(node.children)}</MessageLink>;
    case 'list':
      return node.start === null ? (
        <ul className={styles.list}>{drawn(node.children)}</ul>
      ) : (
        <ol className={styles.list} start={node.start}>
          {drawn(node.children)}
        </ol>
      );
    case 'item':
      return <li dir="auto">{drawn(node.children)}</li>;
    case 'quote':
      return <blockquote className={styles.quote}>{drawn(node.children)}</blockquote>;
    case 'strong':
      return <strong>{drawn(node.children)}</strong>;
    case 'emphasis':
      return <em>{drawn(node.children)}</em>;
    case 'deleted':
      return <del>{drawn(node.children)}</del>;
    case 'paragraph':
      return (
        <p className={styles.paragraph} dir="auto">
          {drawn(node.children)}
        </p>
      );
    default:
      throw node satisfies never;
  }
}
