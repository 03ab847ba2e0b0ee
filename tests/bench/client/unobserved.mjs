import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { WebSocket } from 'ws';
import { chromiumArgs, chromiumPath } from '../../e2e/browser.mjs';
import { observe } from './observe.mjs';

/**
 * Opens a profile in Chromium and attaches to its page alone. Playwright pauses each frame and each worker until it has
 * been told of it, and runs scripts of its own in each document, which lengthens the start of a page that has a frame in
 * another process by a quarter.
 *
 * @param folder the profile, which nothing else has open
 */
export async function openUnobserved(folder, url) {
  const portFile = path.join(folder, 'DevToolsActivePort');
  await rm(portFile, { force: true });
  const chromium = spawn(
    chromiumPath,
    [...chromiumArgs, `--user-data-dir=${folder}`, '--remote-debugging-port=0', 'about:blank'],
    { stdio: 'ignore' },
  );
  const port = (await readWhenThere(portFile)).split('\n')[0];
  const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(targets.find(({ type }) => type === 'page').webSocketDebuggerUrl);
  await once(socket, 'open');
  const send = sender(socket);
  await send('Page.enable');
  await send('Page.addScriptToEvaluateOnNewDocument', { source: `(${observe.toString()})()` });

  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception.description);
    return result.value;
  };
  const loaded = async (method, params) => {
    const done = new Promise((resolve) => {
      socket.on('message', function look(data) {
        if (JSON.parse(data).method !== 'Page.domContentEventFired') return;
        socket.off('message', look);
        resolve();
      });
    });
    await send(method, params);
    await done;
  };
  return {
    evaluate,
    goto: (to) => loaded('Page.navigate', { url: new URL(to, url).href }),
    reload: () => loaded('Page.reload'),
    async close() {
      const closed = once(chromium, 'exit');
      await send('Browser.close');
      await closed;
    },
  };
}

function sender(socket) {
  let count = 0;
  return async (method, params = {}) => {
    count += 1;
    const id = count;
    const answered = new Promise((resolve, reject) => {
      socket.on('message', function look(data) {
        const message = JSON.parse(data);
        if (message.id !== id) return;
        socket.off('message', look);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(`${method}: ${message.error.message}`));
      });
    });
    socket.send(JSON.stringify({ id, method, params }));
    return answered;
  };
}

async function readWhenThere(file) {
  for (let tries = 0; tries < 200; tries += 1) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.includes('\n')) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Chromium never wrote ${file}`);
}
