import { type SelectModifier, type SelectModifierNode, SqliteQueryCompiler } from 'kysely';

const rowLocks: ReadonlySet<SelectModifier | undefined> = new Set([
  'ForUpdate',
  'ForNoKeyUpdate',
  'ForShare',
  'ForKeyShare',
  'NoWait',
  'SkipLocked',
]);

/**
 * Leaves the row locks out that repositories ask for. SQLite has no words for them and no need: its transactions run one
 * after another. On PostgreSQL they run side by side, and the locks make those wait that decide on the same rows.
 */
export class WithoutRowLocks extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!rowLocks.has(node.modifier)) super.visitSelectModifier(node);
  }
}
