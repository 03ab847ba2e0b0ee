/** Returns milliseconds of processor time of this program, of the least of the rounds. */
export function leastOf(rounds: number, call: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.cpuUsage();
    call();
    best = Math.min(best, millisecondsSince(start));
  }
  return best;
}

/** The same of what is done by other threads, too, which are this program's and count. */
export async function leastOfAsync(rounds: number, call: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.cpuUsage();
    await call();
    best = Math.min(best, millisecondsSince(start));
  }
  return best;
}

function millisecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
