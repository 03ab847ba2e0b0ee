import { createLog, type Log } from '#src/lib/log.ts';

export function capturedLog(): { lines: string[]; log: Log } {
  const lines: string[] = [];
  const log = createLog({
    warn: (line) => void lines.push(`warn ${line}`),
    error: (line) => void lines.push(`error ${line}`),
  });
  return { lines, log };
}
