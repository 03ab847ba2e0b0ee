import type { ExportFacts } from './facts.ts';
import type { ExportedMessage } from './records.ts';

/** A message that another one answers. */
export interface Quoted {
  /** Its author's name. */
  readonly name: string;
  /** Null where it has none, or has it no more. */
  readonly text: string | null;
}

/** The layout of a file of the export, part by part from its beginning to its end. */
export interface ExportLayout {
  head(
    facts: ExportFacts,
    conversations: readonly { title: string; count: number }[],
  ): Promise<Iterable<string>>;
  /** @param at which of the conversations in the head */
  conversationStart(title: string, at: number): string;
  message(record: ExportedMessage, isOwn: boolean, quoted: Quoted | null): string;
  conversationEnd(): string;
  tail(): string;
}
