/** Every way that a script of a worker has to say something to a server. Runs in the worker. */
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
      target.addEventListener('open', () => resolve());
      for (const end of ends) target.addEventListener(end, () => reject(new Error('refused')));
    });
  const types = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): unknown } })
    .trustedTypes;
  for (const [at, address] of addresses.entries()) {
    const of = (name: string) => `${name} ${at}`;
    await attempt(of('fetch'), () => fetch(`${address}/?fetch`));
    await attempt(of('request'), () => {
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

/** Every way that a script of a document has to load something from a server, or to send it something. Runs in the document. */
export async function leaveDocument([to, navigates]: [address: string, navigates: boolean]): Promise<void> {
  const quietly = async (leave: () => unknown) => {
    try {
      await leave();
    } catch {
      // Only what the stranger hears counts.
    }
  };
  const element = (name: string, attributes: Record<string, string>) => {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    document.body.append(made);
    return made;
  };
  await quietly(() => fetch(`${to}/?fetch`));
  await quietly(() => navigator.sendBeacon(`${to}/?beacon`));
  await quietly(() => new WebSocket(to.replace('http', 'ws')));
  await quietly(() => new EventSource(`${to}/?events`));
  await quietly(() => element('img', { src: `${to}/?image` }));
  await quietly(() => element('video', { src: `${to}/?video` }));
  await quietly(() => element('link', { rel: 'stylesheet', href: `${to}/?style` }));
  await quietly(() => element('link', { rel: 'prefetch', href: `${to}/?prefetch` }));
  await quietly(() => element('iframe', { src: `${to}/?frame` }));
  await quietly(() => element('object', { data: `${to}/?object` }));
  await quietly(() => element('script', { src: `${to}/?script` }));
  await quietly(() => new FontFace('x', `url(${to}/?font)`).load());
  await quietly(() =>
    (element('form', { action: `${to}/?form`, method: 'post' }) as HTMLFormElement).submit(),
  );
  await quietly(() => import(/* @vite-ignore */ `${to}/?import`));
  if (navigates) await quietly(() => window.location.assign(`${to}/?navigation`));
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
