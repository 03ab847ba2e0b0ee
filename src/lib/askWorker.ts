/** Asks a service worker, which answers by the port that comes along; one that doesn't know the question never does. */
export function askWorker<Answer>(worker: ServiceWorker, question: unknown): Promise<Answer> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      port1.close();
      resolve(data);
    });
    port1.start();
    worker.postMessage(question, [port2]);
  });
}
