/**
 * Every way that a script of a worker has to say something to a server. Each names itself in the address. Runs in the worker.
 * @returns what came of each: `done`, or the name of its error
 */
export async function leaveWorker(addresses: string[]): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  const attempt = async (name: string, leave: () => unknown) => {
    try {
      await leave();
      outcomes[name] = 'done';
    } catch (error) {
      outcomes[name] = error instanceof Error ? error.name : 'refused';
    }
  };
  const settled = (target: EventTarget, ...ends: string[]) =>
    new Promise<void>((resolve, reject) => {
      for (const success of ['open', 'message']) target.addEventListener(success, () => resolve());
      for (const end of ends) target.addEventListener(end, () => reject(new Error('refused')));
    });
  const types = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): unknown } })
    .trustedTypes;
  for (const [at, address] of addresses.entries()) {
    const of = (name: string) => `${name} ${at}`;
    await attempt(of('fetch'), () => fetch(`${address}/?fetch`));
    await attempt(of('xhr'), () => {
      const request = new XMLHttpRequest();
      request.open('GET', `${address}/?xhr`, false);
      request.send();
    });
    await attempt(of('socket'), () =>
      settled(new WebSocket(`${address.replace('http', 'ws')}/?socket`), 'error'),
    );
    await attempt(of('events'), () => settled(new EventSource(`${address}/?events`), 'error'));
    await attempt(of('import'), () => import(/* @vite-ignore */ `${address}/?import`));
    await attempt(of('worker'), () => settled(new Worker(`${address}/?worker`), 'error'));
    await attempt(of('nested'), async () => {
      // A rejection in a worker is no error of the worker: it has to say so.
      const source = `fetch('${address}/?nested').then(() => postMessage(true), () => postMessage(false));`;
      const worker = new Worker(URL.createObjectURL(new Blob([source])));
      const hasReached = new Promise((resolve) => {
        worker.addEventListener('message', ({ data }) => resolve(data));
        worker.addEventListener('error', () => resolve(false));
      });
      if ((await hasReached) !== true) throw new Error('refused');
    });
    await attempt(of('font'), () => new FontFace('x', `url(${address}/?font)`).load());
    await attempt(of('scripts'), () =>
      (globalThis as { importScripts?: (url: string) => void }).importScripts?.(`${address}/?scripts`),
    );
    await attempt(
      of('transport'),
      () => new WebTransport(`${address.replace('http:', 'https:')}/?transport`).ready,
    );
  }
  await attempt('peer', () => {
    if (!('RTCPeerConnection' in globalThis)) throw new Error('none');
  });
  await attempt('beacon', () => {
    if (!('sendBeacon' in navigator)) throw new Error('none');
  });
  for (const name of ['default', 'sinetti-worker', 'of-a-stranger']) {
    await attempt(`policy ${name}`, () => {
      if (types === undefined) throw new Error('none');
      types.createPolicy(name, {});
    });
  }
  // The linter forbids everywhere else what runs text here.
  const { eval: evaluate, Function: compile } = globalThis;
  await attempt('eval', () => evaluate('1'));
  await attempt('function', () => Reflect.construct(compile, ['return 1']));
  return outcomes;
}

/**
 * Every way that a script of a document has to load something from a server, or to send it something, without leaving the
 * document. Each names itself in the address. Runs in the document.
 */
export async function leaveDocument(to: string): Promise<void> {
  // An attempt is over once the browser has said that it was refused, or how it went.
  const attempt = async (leave: () => unknown) => {
    const isForbidden = new Promise<void>((resolve) => {
      document.addEventListener('securitypolicyviolation', () => resolve(), { once: true });
    });
    try {
      await Promise.race([isForbidden, leave()]);
    } catch {
      // Only what the stranger hears counts.
    }
  };
  const settled = (target: EventTarget) =>
    new Promise<void>((resolve) => {
      for (const end of ['load', 'loadeddata', 'open', 'message', 'error'])
        target.addEventListener(end, () => resolve());
    });
  const add = (name: string, attributes: Record<string, string>) => {
    const made = document.createElement(name);
    const isOver = settled(made);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    document.body.append(made);
    return isOver;
  };
  await attempt(() => fetch(`${to}/?fetch`));
  await attempt(() => {
    const request = new XMLHttpRequest();
    request.open('GET', `${to}/?xhr`, false);
    request.send();
  });
  await attempt(() => navigator.sendBeacon(`${to}/?beacon`));
  await attempt(() => settled(new WebSocket(`${to.replace('http', 'ws')}/?socket`)));
  await attempt(() => settled(new EventSource(`${to}/?events`)));
  await attempt(() => add('img', { src: `${to}/?image` }));
  await attempt(() => add('video', { src: `${to}/?video` }));
  await attempt(() => add('link', { rel: 'stylesheet', href: `${to}/?style` }));
  await attempt(() => add('link', { rel: 'prefetch', href: `${to}/?prefetch` }));
  await attempt(() => add('iframe', { src: `${to}/?frame` }));
  await attempt(() => add('object', { data: `${to}/?object` }));
  await attempt(() => add('script', { src: `${to}/?script` }));
  await attempt(() => new FontFace('x', `url(${to}/?font)`).load());
  await attempt(() => import(/* @vite-ignore */ `${to}/?import`));
  await attempt(() => {
    const source = `fetch('${to}/?nested').then(() => postMessage(0), () => postMessage(0));`;
    return settled(new Worker(URL.createObjectURL(new Blob([source]))));
  });
  await attempt(() => {
    const target = document.createElement('iframe');
    target.name = 'of-the-form';
    const form = document.createElement('form');
    Object.assign(form, { action: `${to}/?form`, method: 'post', target: target.name });
    document.body.append(target, form);
    form.submit();
    return settled(target);
  });
}

/** Ways of a document to reach a server by a window of its own, and by WebRTC, which finds itself by that server. Runs in the document. */
export async function leaveByWindow([to, stun]: [address: string, stun: string]): Promise<void> {
  window.open(`${to}/?window`, '_blank');
  const connection = new RTCPeerConnection({ iceServers: [{ urls: stun }] });
  const hasGathered = new Promise<void>((resolve) => {
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') resolve();
    });
  });
  connection.createDataChannel('x');
  await connection.setLocalDescription();
  await hasGathered;
}

/** Ways of a document to take itself, or the window that it is in, to another address. Runs in the document. */
export const leaveByNavigation = {
  own: (to: string) => window.location.assign(`${to}/?navigation`),
  top: (to: string) => window.top?.location.replace(`${to}/?top`),
  client: async (to: string) => {
    const { clients } = globalThis as unknown as {
      clients: { matchAll(): Promise<{ navigate(url: string): Promise<unknown> }[]> };
    };
    for (const client of await clients.matchAll()) await client.navigate(`${to}/?navigation`);
  },
} as const;
