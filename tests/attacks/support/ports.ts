/** Keeps a hold on the page's end of every channel, as a script that came before the page's own could. */
export function keepPorts(): void {
  const stolenPorts: MessagePort[] = [];
  Object.assign(globalThis, { stolenPorts });
  globalThis.MessageChannel = class extends MessageChannel {
    constructor() {
      super();
      stolenPorts.push(this.port1);
    }
  };
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

/** Calls for everything that wraps the vault key, with guesses. Runs in a page that {@link keepPorts} came before. */
export async function wrapsWithoutPassword(): Promise<unknown[]> {
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
  // Parameters of one's own are taken for what the relay would have said.
  const passwordParams = { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 };
  return [
    await call('createRecoveryKey'),
    await call('confirmRecoveryKey', { password: 'a guess', passwordParams }),
    await call('changePassword', {
      currentPassword: 'a guess',
      currentParams: passwordParams,
      newPassword: 'a password of the thief',
    }),
  ];
}
