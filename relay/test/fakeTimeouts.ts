import { onTestFinished, vi } from 'vitest';

/** From now on the relay's time-outs run when the test says so, not while a busy machine stands still. Sockets are real. */
export function fakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}
