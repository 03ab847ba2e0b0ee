import { expose } from 'comlink';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCryptoClient } from '#src/crypto/client.ts';
import type { KeysFrame } from '#src/crypto/keysFrame.ts';
import { createProofRooms } from '#src/crypto/proofRoom.ts';

type Answer = { ok: true; value: unknown } | { ok: false; code: string; detail: string };

/** A frame whose worker is this thread. */
class FakeFrame implements KeysFrame {
  readonly ports: MessagePort[] = [];
  readonly #listeners: (() => void)[] = [];
  answer: (method: string, args: unknown[]) => Promise<Answer> = async (value) => ({ ok: true, value });
  lock = vi.fn<() => Promise<void>>(async () => this.tellLocked());
  keep = vi.fn<() => void>();
  readonly #own = new MessageChannel();
  readonly control = this.#own.port1;
  /** The page's requests on the control port. */
  readonly asked: string[] = [];
  room = vi.fn<(port: MessagePort) => void>();
  break = (_part: 'frame' | 'worker') => {};
  readonly broken = new Promise<'frame' | 'worker'>((resolve) => {
    this.break = resolve;
  });

  start(port: MessagePort): void {
    this.ports.push(port);
    expose({ call: (method: string, args: unknown[]) => this.answer(method, args) }, port);
  }

  constructor() {
    this.control.start();
    this.#own.port2.addEventListener('message', ({ data, ports: [port] }: MessageEvent<{ type: string }>) => {
      this.asked.push(data.type);
      if (port !== undefined) this.start(port);
    });
    this.#own.port2.start();
  }

  breakProof(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    this.#own.port2.postMessage({ type: 'proof-broken' });
  }

  onLocked(listener: () => void): void {
    this.#listeners.push(listener);
  }

  tellLocked(): void {
    for (const listener of this.#listeners) listener();
  }
}

let frame: FakeFrame;
beforeEach(() => {
  frame = new FakeFrame();
});
afterEach(() => {
  for (const port of [...frame.ports, frame.control]) port.close();
});

describe('the client of the worker', () => {
  it('calls a method by its name, with its arguments', async () => {
    frame.answer = async (method, args) => ({ ok: true, value: [method, args] });
    expect(await createCryptoClient(frame).resume('id')).toEqual(['resume', ['id']]);
  });

  it('rejects with the code of what failed', async () => {
    frame.answer = async () => ({ ok: false, code: 'gap', detail: '7' });
    await expect(createCryptoClient(frame).resume('id')).rejects.toMatchObject({ code: 'gap', detail: '7' });
  });

  it('rejects what waits, and what comes later, once the worker has died', async () => {
    frame.answer = () => new Promise(() => {});
    const client = createCryptoClient(frame);
    const waiting = client.resume('id');
    frame.break('worker');
    await expect(waiting).rejects.toMatchObject({ code: 'internal', detail: 'worker' });
    await expect(client.resume('id')).rejects.toMatchObject({ code: 'internal' });
    await expect(client.lock()).rejects.toMatchObject({ code: 'internal' });
  });

  it('says so when the frame is out of reach', async () => {
    frame.answer = () => new Promise(() => {});
    frame.break('frame');
    await expect(createCryptoClient(frame).resume('id')).rejects.toMatchObject({ code: 'keys-unreachable' });
  });

  it('locks by the frame, while the worker is busy', async () => {
    frame.answer = () => new Promise(() => {});
    const client = createCryptoClient(frame);
    const waiting = client.resume('id');
    await client.lock();
    expect(frame.lock).toHaveBeenCalledOnce();
    await expect(waiting).rejects.toMatchObject({ code: 'locked' });
  });

  it('has another worker started with the first call after the lock', async () => {
    const client = createCryptoClient(frame);
    await client.lock();
    expect(frame.ports).toHaveLength(1);
    expect(await client.resume('id')).toBe('resume');
    expect(frame.ports).toHaveLength(2);
  });

  it('is locked by another tab', async () => {
    frame.answer = () => new Promise(() => {});
    const client = createCryptoClient(frame);
    const waiting = client.resume('id');
    frame.tellLocked();
    await expect(waiting).rejects.toMatchObject({ code: 'locked' });
    expect(frame.lock).not.toHaveBeenCalled();
    frame.answer = async (value) => ({ ok: true, value });
    expect(await client.resume('id')).toBe('resume');
  });

  it('says so when the session could not be deleted', async () => {
    frame.lock.mockRejectedValue(new Error('UnknownError'));
    await expect(createCryptoClient(frame).lock()).rejects.toMatchObject({
      code: 'storage',
      detail: 'UnknownError',
    });
  });

  it('is no promise', async () => {
    const client = createCryptoClient(frame);
    expect(await Promise.resolve(client)).toBe(client);
  });
});

describe('an instance of the worker that proves things', () => {
  it('is called as the worker is, and ended by its frame', async () => {
    frame.answer = async (method, args) => ({ ok: true, value: [method, args] });
    const rooms = createProofRooms(frame);
    expect(await rooms.open().runVectors('x25519', [])).toEqual(['runVectors', ['x25519', []]]);
    rooms.close();
    await expect.poll(() => frame.asked).toEqual(['prove', 'end-proof']);
  });

  it('rejects what waits once it has died, or where there is no frame', async () => {
    frame.answer = () => new Promise(() => {});
    const waiting = createProofRooms(frame).open().runVectors('x25519', []);
    frame.breakProof();
    await expect(waiting).rejects.toMatchObject({ code: 'internal', detail: 'worker' });
    frame.break('frame');
    await expect(createProofRooms(frame).open().runVectors('x25519', [])).rejects.toMatchObject({
      code: 'keys-unreachable',
    });
  });
});
