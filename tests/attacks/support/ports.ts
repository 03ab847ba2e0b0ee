/**
 * Keeps a hold on the page's end of every channel, as a script that came before the page's own could, and on all that is
 * said in the page: typed, pasted, clicked, or sent to it. Runs in the page.
 */
export function keepPorts(): void {
  const stolenPorts: MessagePort[] = [];
  Object.assign(globalThis, { stolenPorts, overheard: [] });
  const keep = (line: string) => (globalThis as unknown as { overheard: string[] }).overheard.push(line);
  const overhear = ({ data }: MessageEvent<unknown>) => keep(JSON.stringify(data) ?? '');
  globalThis.MessageChannel = class extends MessageChannel {
    constructor() {
      super();
      this.port1.addEventListener('message', overhear);
      stolenPorts.push(this.port1);
    }
  };
  window.addEventListener('message', overhear);
  for (const type of ['keydown', 'beforeinput', 'input', 'change', 'paste', 'copy', 'submit', 'click']) {
    window.addEventListener(
      type,
      (event) => {
        const { data, key } = event as unknown as { data?: string; key?: string };
        const { value } = (event.target ?? {}) as { value?: string };
        keep(`${type} ${key ?? ''} ${data ?? ''} ${value ?? ''}`);
      },
      true,
    );
  }
}

/** Calls a method of the worker by the ports that were kept. Runs in the page. @returns the worker's answer */
export async function callWorker({ method, args }: { method: string; args: unknown[] }): Promise<unknown> {
  const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
  return new Promise((resolve) => {
    const id = crypto.randomUUID();
    for (const port of stolenPorts) {
      port.addEventListener('message', ({ data }) => data?.id === id && resolve(data.value));
      const argumentList = [method, args].map((value) => ({ type: 'RAW', value }));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
      port.postMessage({ id, type: 'APPLY', path: ['call'], argumentList });
    }
  });
}

/** Sends a message by every port that was kept, and to the frame itself. Runs in the page. */
export function sayEverywhere(message: unknown): void {
  const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  for (const port of stolenPorts) port.postMessage(message);
  document.querySelector('iframe')?.contentWindow?.postMessage(message, '*');
}

/** Sends the worker what Comlink understands beside calls. Runs in a page that {@link keepPorts} came before. */
export async function strangeCalls(): Promise<unknown[]> {
  const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
  const ask = (message: object) =>
    new Promise((resolve) => {
      const id = crypto.randomUUID();
      for (const port of stolenPorts) {
        port.addEventListener('message', ({ data }) => data?.id === id && resolve(data.value));
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
        port.postMessage({ id, ...message });
      }
    });
  const raw = (value: unknown) => ({ type: 'RAW', value });
  const toPrototype = ['constructor', 'prototype'];
  return Promise.all([
    ask({ type: 'GET', path: ['constructor'] }),
    ask({ type: 'SET', path: [...toPrototype, 'polluted'], value: raw(1) }),
    ask({
      type: 'APPLY',
      path: [...toPrototype, '__defineSetter__'],
      argumentList: [raw('accountSeed'), raw(null)],
    }),
    ask({ type: 'CONSTRUCT', path: ['call', 'constructor'], argumentList: [raw('return 1')] }),
    ask({ type: 'ENDPOINT', path: [] }),
  ]);
}

/** Asks for everything that takes a confirmation, without one. Runs in a page that {@link keepPorts} came before. */
export async function unconfirmedCalls(): Promise<unknown[]> {
  const { stolenPorts } = globalThis as unknown as { stolenPorts: MessagePort[] };
  const call = (method: string, ...args: unknown[]) =>
    new Promise((resolve) => {
      const id = crypto.randomUUID();
      for (const port of stolenPorts) {
        port.addEventListener('message', ({ data }) => data?.id === id && resolve(data.value));
        const argumentList = [method, args].map((value) => ({ type: 'RAW', value }));
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
        port.postMessage({ id, type: 'APPLY', path: ['call'], argumentList });
      }
    });
  const vault = { sealedVault: 'AAAA', passwordWrap: 'AAAA', version: 1 };
  const deviceId = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const request = {
    operation: 'DELETE /user',
    body: '',
    replaces: 1,
    session: deviceId,
    nonce: 'A'.repeat(43),
  };
  return Promise.all([
    call('replaceRecoveryKey', vault),
    call('changePassword', vault),
    call('revokeDevice', { vault, deviceId }),
    call('moveOn', { vault, deviceIds: [deviceId] }),
    call('readRenewedKeys', vault),
    call('acceptOlderVault', vault),
    call('adoptRenewedKeys'),
    call('signPendingProof', request),
  ]);
}
