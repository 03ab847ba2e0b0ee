/** Updates of the GroupContext's component data by AppDataUpdate proposals (draft-ietf-mls-extensions-10, section 4.7). */
import { DEFAULT_LIMITS, type Limits } from '../codec/limits.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { writeComponents } from '../structs/component.ts';
import { type Extension, ExtensionTypeValue } from '../structs/extension.ts';
import type { Sender } from '../structs/framedContent.ts';
import type { AppDataUpdateProposal } from '../structs/proposal.ts';
import { blaming, type CommittedProposal, refuse } from './blame.ts';
import { findAppData } from './components.ts';

/** An update of a component's data, by whom it was proposed: the committer itself, if the commit carries it by value. */
export interface ProposedAppData {
  readonly update: Uint8Array;
  readonly sender: Sender;
}

/**
 * The application's logic for the data of its components. All members have to come to the same answers, for the same
 * commits. Throws CryptoError 'invalid-proposal' or 'policy' to refuse, for a component that it doesn't know too.
 */
export interface AppDataLogic {
  /**
   * Returns the new data of a component.
   * @param before the data that it has, or null
   * @param updates at least one, in the order of the commit
   */
  update(componentId: number, before: Uint8Array | null, updates: readonly ProposedAppData[]): Uint8Array;
  /** Hears that the data of a component is to be removed. */
  remove(componentId: number, before: Uint8Array, sender: Sender): void;
}

/** Applies AppDataUpdates; made by `applyingAppData`, so that applications without components don't carry its code. */
export type AppDataUpdates = (
  extensions: readonly Extension[],
  proposals: readonly CommittedProposal[],
  limits?: Limits,
) => readonly Extension[];

/**
 * Makes the `appData` of `createCommit`, `processCommit` and `joinExternal`, by which they apply AppDataUpdates (extensions draft,
 * section 4.7): without one, these are refused. Nothing is thrown before one is applied.
 * @param logic of the application, for all of its components
 */
export function applyingAppData(logic: AppDataLogic): AppDataUpdates {
  return (extensions, proposals, limits) => withAppDataUpdates(extensions, proposals, logic, limits);
}

interface Change {
  readonly proposal: AppDataUpdateProposal;
  readonly sender: Sender;
  readonly ref: Uint8Array | null;
}

/**
 * Applies the AppDataUpdates of a list, each component's together, after the proposals of RFC 9420.
 * COMP-02: a component is either updated, or removed once where it has data.
 * COMP-04: the application knows the component, and accepts the change.
 * @throws CryptoError 'invalid-proposal', 'malformed', 'unsupported' beyond a limit, and what the application throws
 */
function withAppDataUpdates(
  extensions: readonly Extension[],
  proposals: readonly CommittedProposal[],
  logic: AppDataLogic,
  limits: Limits = DEFAULT_LIMITS,
): readonly Extension[] {
  const changes = changesByComponent(proposals);
  const data = new Map(
    findAppData(extensions, limits).map((entry) => [entry.componentId, entry.data] as const),
  );
  for (const [componentId, some] of changes) {
    const after = blaming(some.at(-1)?.ref ?? null, () =>
      changed(componentId, data.get(componentId) ?? null, some, logic),
    );
    if (after === null) data.delete(componentId);
    else data.set(componentId, after);
  }
  return withDictionary(extensions, data);
}

function changesByComponent(proposals: readonly CommittedProposal[]): Map<number, Change[]> {
  const changes = new Map<number, Change[]>();
  for (const { proposal, sender, ref } of proposals) {
    if (proposal.type !== 'app-data-update') continue;
    const some = changes.get(proposal.componentId) ?? [];
    some.push({ proposal, sender, ref });
    changes.set(proposal.componentId, some);
  }
  return changes;
}

/** Returns a component's data after some changes, or null once it is removed. */
function changed(
  componentId: number,
  before: Uint8Array | null,
  changes: readonly Change[],
  logic: AppDataLogic,
): Uint8Array | null {
  const updates = changes.flatMap(({ proposal, sender }) =>
    proposal.op === 'update' ? [{ update: proposal.update, sender }] : [],
  );
  const removal = changes.find(({ proposal }) => proposal.op === 'remove');
  if (removal !== undefined && changes.length > 1) {
    refuse('COMP-02', `component ${componentId} is removed beside another change`);
  }
  if (removal !== undefined && before === null) refuse('COMP-02', `component ${componentId} has no data`);
  try {
    if (removal === undefined || before === null) return logic.update(componentId, before, updates);
    logic.remove(componentId, before, removal.sender);
    return null;
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new CryptoError(error.code, `COMP-04: ${error.detail}`);
  }
}

/** Replaces the dictionary in its place among the extensions, or adds one at their end. */
function withDictionary(
  extensions: readonly Extension[],
  data: ReadonlyMap<number, Uint8Array>,
): readonly Extension[] {
  const entries = [...data]
    .map(([componentId, bytes]) => ({ componentId, data: bytes }))
    .toSorted((one, other) => one.componentId - other.componentId);
  const dictionary: Extension = {
    type: ExtensionTypeValue.appDataDictionary,
    data: encode(entries, writeComponents),
  };
  const isThere = extensions.some(({ type }) => type === dictionary.type);
  if (!isThere) return [...extensions, dictionary];
  return extensions.map((extension) => (extension.type === dictionary.type ? dictionary : extension));
}
