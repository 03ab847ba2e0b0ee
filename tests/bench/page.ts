import { proxy, wrap } from 'comlink';
import type { RunOptions, RunResult } from './report.ts';
import { run } from './run.ts';

declare global {
  interface Window {
    /** Called from outside the page: in a worker, as the product runs its cryptography. */
    runInWorker(options: RunOptions): Promise<RunResult>;
    /** The same on the page's own thread, which Chromium's profiler can reach. */
    runOnPage(options: RunOptions): Promise<RunResult>;
  }
}

function report(text: string): void {
  console.info(text);
}

window.runInWorker = (options) => {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  return wrap<typeof run>(worker)(options, proxy(report)).finally(() => worker.terminate());
};

window.runOnPage = (options) => run(options, report);
