import { vi } from 'vitest';
import type { ReleaseRefusal, ReleaseVerdict } from '#src/serviceWorker/releaseMessages.ts';

/** A service worker of a test, which answers what it is told to. */
export class FakeWorker extends EventTarget {
  state = 'installing';
  /** Answers what comes with a port; undefined is no answer. */
  answer: (question: unknown) => unknown = () => undefined;
  readonly postMessage = vi.fn<(message: unknown, ports?: readonly MessagePort[]) => void>(
    (message, ports) => {
      const answer = this.answer(message);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
      if (answer !== undefined) ports?.[0]?.postMessage(answer);
    },
  );

  become(state: string): void {
    this.state = state;
    this.dispatchEvent(new Event('statechange'));
  }
}

export class FakeRegistration extends EventTarget {
  readonly scope = 'http://localhost/';
  active: FakeWorker | null = null;
  installing: FakeWorker | null = null;
  waiting: FakeWorker | null = null;
  readonly update = vi.fn<() => Promise<void>>().mockResolvedValue(undefined);

  find(): FakeWorker {
    this.installing = new FakeWorker();
    this.dispatchEvent(new Event('updatefound'));
    return this.installing;
  }
}

export class FakeContainer extends EventTarget {
  controller: object | null = {};
  readonly registration = new FakeRegistration();
  readonly register = vi
    .fn<(url: string, options: object) => Promise<FakeRegistration>>()
    .mockResolvedValue(this.registration);
  readonly getRegistrations = vi
    .fn<() => Promise<{ readonly scope: string }[]>>()
    .mockResolvedValue([this.registration]);
}

/** A release that the person has not agreed to. */
export const newer = {
  state: 'newer',
  release: 'A'.repeat(43),
  version: '1.4.0',
  app: true,
  room: false,
  policies: false,
} as const satisfies ReleaseVerdict;
export const current: ReleaseVerdict = { state: 'current', version: '1.0.0' };
export const refused = (code: string, isKnownScript = true): ReleaseRefusal => ({
  state: 'refused',
  code,
  reason: `The reason is ${code}.`,
  isKnownScript,
});
