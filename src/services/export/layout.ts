import type { ExportFacts } from './facts.ts';
import type { ExportedMessage } from './records.ts';

/** The layout of a file of the export, part by part from its beginning to its end. */
export interface ExportLayout {
  head(
    facts: ExportFacts,
    conversations: readonly { title: string; count: number }[],
  ): Promise<Iterable<string>>;
  /** @param at which of the conversations in the head */
  conversationStart(title: string, at: number): string;
  message(record: ExportedMessage, isOwn: boolean): string;
  conversationEnd(): string;
  tail(): string;
}
