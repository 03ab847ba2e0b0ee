import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'vite';

const packageFile = createRequire(import.meta.url);

/** The stand-in for a module, as CommonJS. */
const standIns: Readonly<Record<string, string>> = {
  // It prints packets to the console for whoever sets localStorage.debug: plain names of topics and user properties.
  debug: 'module.exports = () => () => {};',
  // Only the timers called native are used: the others start a worker from a blob.
  'worker-timers': 'module.exports = {};',
  // The package for browsers puts each tick off to a timer, behind whatever the page has to draw; Node's come before that.
  'process/': `
    const nextTick = (task, ...args) => queueMicrotask(() => task(...args));
    module.exports = { nextTick, env: {}, version: '', versions: {} };`,
  // For topic aliases, which the relay doesn't offer.
  'lru-cache': 'exports.LRUCache = class extends Map { constructor() { super(); } };',
  // The four classes without the rest of the package: operators, pipelines, promises, web streams.
  'readable-stream': `
    const { Buffer } = require('buffer');
    const { Stream } = require('readable-stream/lib/internal/streams/legacy');
    Stream._isUint8Array = (chunk) => chunk instanceof Uint8Array;
    Stream._uint8ArrayToBuffer = (chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    exports.Readable = require('readable-stream/lib/internal/streams/readable');
    exports.Writable = require('readable-stream/lib/internal/streams/writable');
    exports.Duplex = require('readable-stream/lib/internal/streams/duplex');
    exports.Transform = require('readable-stream/lib/internal/streams/transform');`,
  // Node's old parser, as far as mqtt.js reads its result.
  url: `exports.parse = (text) => {
    const { protocol, hostname, port, pathname, search, searchParams } = new URL(text);
    return { protocol, hostname, port: port || null, path: pathname + search, query: Object.fromEntries(searchParams), auth: null };
  };`,
};

/** Node's modules in mqtt.js and its dependencies, by the packages that are made for browsers. */
const forBrowsers: Readonly<Record<string, string>> = {
  buffer: 'buffer/index.js',
  events: 'events/events.js',
  'string_decoder/': 'string_decoder/lib/string_decoder.js',
  mqtt: 'mqtt/build/index.js',
};

/** Other brokers and runtimes; and what readable-stream asks for where the browser has its own, or nobody calls it. */
const leftOut = /^(?:\.\/(?:tcp|tls|wx|ali|socks|duplexify)|ws|abort-controller)$/;

const users = /\/node_modules\/(?:mqtt|mqtt-packet|bl|readable-stream|rfdc|process-nextick-args)\//;
const ownUser = /\/src\/net\/mqtt\.ts$/;
const prefix = '\0mqtt-source:';

/**
 * Builds mqtt.js from its source. The bundle that it publishes for browsers is minified already, so that nothing can be
 * left out of it, and two thirds of it are what a browser has itself or this client never calls.
 */
export function mqttFromSource(): Plugin {
  return {
    name: 'mqtt-from-source',
    apply: 'build',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const asksForIt = users.test(importer) || importer.startsWith(prefix);
      if (!asksForIt && !(source === 'mqtt' && ownUser.test(importer))) return null;
      if (source in standIns) return prefix + source;
      if (leftOut.test(source)) return `${prefix}nothing`;
      const file = forBrowsers[source];
      return file === undefined ? null : path.join(nodeModules(), file);
    },
    load(id) {
      if (!id.startsWith(prefix)) return null;
      return standIns[id.slice(prefix.length)] ?? 'module.exports = {};';
    },
    transform: {
      filter: { id: /\/node_modules\/(?:mqtt\/build|process-nextick-args)\// },
      // In Node it is global.
      handler: (code) => ({
        code: `const process = require('process/');\n${code}`,
        map: null,
      }),
    },
  };
}

function nodeModules(): string {
  return path.resolve(packageFile.resolve('mqtt/package.json'), '..', '..');
}
