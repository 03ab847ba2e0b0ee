import { describe, expect, it, vi } from 'vitest';
import { createProofs } from '#workers/frame/proofs.ts';

class FakeWorker extends EventTarget {
  readonly postMessage = vi.fn<(message: unknown, ports: readonly unknown[]) => void>();
  readonly terminate = vi.fn<() => void>();
}

function start() {
  const started = new Map<string, FakeWorker>();
  const onBroken = vi.fn<() => void>();
  const proofs = createProofs((name) => {
    const worker = new FakeWorker();
    started.set(name, worker);
    return worker as unknown as Worker;
  }, onBroken);
  const begin = () => proofs.start({} as MessagePort);
  return { begin, onBroken, proofs, workers: () => [...started.values()], names: () => [...started.keys()] };
}

describe('the instances that prove things', () => {
  it('are never more than the page of one person needs, however often it asks', () => {
    const { begin, names, onBroken, proofs, workers } = start();
    for (let asked = 0; asked < 1000; asked += 1) begin();
    expect(workers()).toHaveLength(8);
    expect(onBroken).toHaveBeenCalledTimes(992);
    expect(names().every((name) => name.startsWith('sinetti-proof:'))).toBe(true);
    expect(new Set(names()).size).toBe(8);
    proofs.end();
    expect(workers().every(({ terminate }) => terminate.mock.calls.length === 1)).toBe(true);
    begin();
    expect(workers()).toHaveLength(9);
  });

  it('make room for others when they die', () => {
    const { begin, onBroken, workers } = start();
    for (let asked = 0; asked < 8; asked += 1) begin();
    workers()[0]?.dispatchEvent(new Event('error'));
    expect(onBroken).toHaveBeenCalledOnce();
    begin();
    expect(workers()).toHaveLength(9);
  });
});
