import type { ProofApi } from '../../crypto/proofRoom.ts';
import type { VectorGroup, VectorRun } from '../../store/proof.ts';

/** Published cases of one format, as build/vectors.mjs writes them; the worker reads each as its format has it. */
export interface SelectedVectors {
  readonly format: string;
  readonly source: string;
  readonly cases: readonly unknown[];
}

/** Cases of one call: few, so that the count is seen to move. */
const atOnce = 4;

export interface VectorDeps {
  readonly room: Pick<ProofApi, 'runVectors'>;
  /** The file of the selected vectors, read. */
  readonly read: () => Promise<readonly SelectedVectors[]>;
  /** Milliseconds since any moment. */
  readonly now: () => number;
}

/** Runs the published vectors, a few at a time. @param onProgress called after each few */
export async function runVectors(
  { now, read, room }: VectorDeps,
  onProgress: (run: VectorRun) => void,
): Promise<VectorRun> {
  const selected = await read();
  const began = now();
  const groups: VectorGroup[] = selected.map(({ cases, format, source }) => ({
    format,
    source,
    total: cases.length,
    passed: 0,
    failed: [],
  }));
  const run = () => ({ groups: [...groups], elapsed: now() - began });
  onProgress(run());
  for (const [index, { cases, format }] of selected.entries()) {
    for (let from = 0; from < cases.length; from += atOnce) {
      const outcomes = await room.runVectors(format, cases.slice(from, from + atOnce));
      groups[index] = counted(groups[index] as VectorGroup, outcomes);
      onProgress(run());
    }
  }
  return run();
}

function counted(group: VectorGroup, outcomes: readonly (string | null)[]): VectorGroup {
  const done = group.passed + group.failed.length;
  const failed = outcomes.flatMap((field, at) => (field === null ? [] : [{ number: done + at + 1, field }]));
  return {
    ...group,
    passed: group.passed + outcomes.length - failed.length,
    failed: [...group.failed, ...failed],
  };
}
