/**
 * The table of imports (docs/ARCHITECTURE.md, Doors): each room with the rooms and packages that it may use, everything
 * else being refused. The linter reads the later of two rows that fit a file.
 */
import path from 'node:path';

/** The packages by which the client's rooms draw and keep; every other package is owned by one file, see its row. */
const libraries = [
  'react',
  'react-dom',
  'react-dom/client',
  'react-router-dom',
  'react-error-boundary',
  'jotai',
  'clsx',
  '@base-ui/react/*',
  '@lingui/*',
  '@tanstack/react-virtual',
  'lucide-react',
  'qr',
  'qr/*',
  'emojibase-data/*/*.json',
  '@fontsource-variable/inter/*',
];
const withoutState = libraries.filter((name) => name !== 'jotai');

const core = 'crypto-core/src';
const coreBase = [`${core}/errors.ts`, `${core}/bytes.ts`, `${core}/env.ts`];
const coreLayer = (name, ...lower) => ({
  door: 1,
  room: `${core}/${name}`,
  may: [...coreBase, ...lower.map((layer) => `${core}/${layer}`)],
});

const worker = (name, ...may) => ({
  door: 2,
  room: `workers/${name}`,
  may: may.map((folder) => `workers/${folder}`),
  packages: ['@sinetti/crypto-core', '@sinetti/crypto-core/account', '@sinetti/crypto-core/content'],
});
const workerBase = ['codec', 'api', 'storage', 'session', 'identity'];

const client = (door, room, may, packages = []) => ({
  door,
  room: `src/${room}`,
  may: may.map((folder) => `src/${folder}`),
  packages,
});
const drawing = ['store', 'ui', 'i18n', 'operator', 'lib'];
const service = (name, ...services) =>
  client(
    5,
    `services/${name}`,
    [...services.map((other) => `services/${other}`), 'crypto', 'net', 'store', 'i18n', 'lib', 'operator'],
    ['jotai', 'zod/mini'],
  );

/**
 * `own` is what a file may import of its own room, `typesOf` where types may come from and nothing else.
 * @type {{ door: number, room: string, own?: string[], may: string[], packages?: string[], typesOf?: string[] }[]}
 */
const rooms = [
  // A file in no room below may import nothing.
  { door: 2, room: 'workers', own: [], may: [] },
  { door: 4, room: 'src', own: [], may: [] },
  { door: 5, room: 'src/services', own: [], may: [] },
  { door: 1, room: core, own: ['./*'], may: [] },
  { door: 1, room: `${core}/index.ts`, may: [core] },
  coreLayer('codec'),
  coreLayer('suite', 'codec'),
  { ...coreLayer('suite/sodium.ts', 'codec'), packages: ['libsodium-wrappers'] },
  coreLayer('structs', 'codec', 'suite'),
  coreLayer('tree', 'codec', 'suite', 'structs'),
  coreLayer('schedule', 'codec', 'suite', 'structs', 'tree'),
  coreLayer('framing', 'codec', 'suite', 'structs', 'schedule'),
  coreLayer('group', 'codec', 'suite', 'structs', 'tree', 'schedule', 'framing'),
  coreLayer('account', 'codec', 'suite', 'structs'),
  coreLayer('content', 'codec', 'suite', 'structs', 'account'),
  coreLayer('vectors', 'codec', 'suite', 'structs', 'tree', 'schedule', 'framing', 'group'),

  { ...worker('crypto.worker.ts', 'entry'), own: [], packages: ['comlink'] },
  worker('codec'),
  worker('api', 'codec'),
  worker('storage', 'codec', 'api'),
  { ...worker('storage/db.ts', 'codec', 'api'), packages: ['idb'] },
  worker('session', 'codec', 'api', 'storage'),
  worker('identity', 'codec', 'api', 'storage', 'session'),
  // Its rules lie in a folder of their own.
  { ...worker('conversation', ...workerBase), own: ['./**', '../*'] },
  worker('trust', ...workerBase, 'conversation'),
  worker('backup', ...workerBase, 'conversation'),
  worker('messaging', ...workerBase, 'conversation'),
  worker('entry', ...workerBase, 'conversation', 'trust', 'backup', 'messaging'),
  {
    ...worker('entry/proof.ts', 'codec', 'api'),
    packages: ['@sinetti/crypto-core', '@sinetti/crypto-core/vectors'],
  },

  // The frame's few lines are all of the origin of the keys but the worker.
  {
    door: 2,
    room: 'workers/frame',
    may: [
      'workers/api',
      'workers/session/endSession.ts',
      'workers/crypto.worker.ts',
      'src/lib/trustedScriptUrl.ts',
      'src/lib/agreedVersion.ts',
      'src/lib/askVerdict.ts',
      'src/lib/askWorker.ts',
      'src/lib/releaseAgreement.ts',
      'src/serviceWorker/messages.ts',
      'src/serviceWorker/releaseMessages.ts',
    ],
    packages: [],
  },

  {
    door: 3,
    room: 'src/crypto',
    may: ['src/lib', 'workers/api'],
    packages: ['comlink'],
  },

  client(
    4,
    'app',
    ['pages', 'features', 'services', 'serviceWorker', 'net', 'crypto', ...drawing],
    libraries,
  ),
  client(4, 'pages', ['pages/site', 'features', ...drawing], libraries),
  client(4, 'features', ['features/conversation', 'features/emoji', 'features/files', ...drawing], libraries),
  { ...client(4, 'store', ['i18n', 'lib'], ['jotai', 'react', 'zod/mini']), typesOf: ['src/crypto'] },
  client(4, 'ui', ['i18n', 'operator', 'lib'], withoutState),
  client(4, 'i18n', ['operator', 'lib'], withoutState),
  client(4, 'operator', [], ['@sinetti/relay/contract/operator']),
  {
    door: 4,
    room: 'src/lib',
    // Notifications are shown by the service worker, which is told so in its own messages.
    may: [
      'src/serviceWorker/messages.ts',
      'src/serviceWorker/releaseMessages.ts',
      'src/serviceWorker/chatPath.ts',
      'package.json',
    ],
    packages: ['react', 'zod/mini'],
  },

  client(4, 'lib/links.ts', [], ['linkify-it']),
  // Loaded on demand, with its tables.
  client(4, 'lib/markdown.ts', ['lib/links.ts'], ['markdown-it']),
  // Loaded on demand, with its dictionaries.
  client(4, 'lib/passwordRating.ts', [], ['@zxcvbn-ts/**']),

  service('core'),
  service('conversations', 'core'),
  service('people', 'core', 'conversations'),
  service('account', 'core', 'conversations', 'people'),
  service('session', 'core', 'account'),
  service('groups', 'core', 'conversations'),
  service('backup', 'core', 'conversations'),
  service('export', 'core'),
  // Loaded with the first archive.
  {
    ...service('export/archive.ts', 'core'),
    packages: [...service('export', 'core').packages, 'client-zip'],
  },
  // It reads a release as `sinetti verify` does, and asks the service worker for the one in use.
  {
    ...service('proof'),
    may: [...service('proof').may, 'verify/src/chain', 'src/serviceWorker/releaseMessages.ts'],
  },
  service('files', 'core', 'conversations'),
  // The service worker asks it for what is played.
  {
    ...service('files/streams.ts', 'core', 'conversations'),
    may: [...service('files/streams.ts', 'core', 'conversations').may, 'src/serviceWorker/media.ts'],
  },
  service(
    'client',
    'core',
    'conversations',
    'people',
    'account',
    'session',
    'groups',
    'backup',
    'export',
    'files',
  ),
  client(5, 'net', ['lib'], ['zod/mini', '@sinetti/relay/contract']),
  client(5, 'net/blobs.ts', ['lib'], ['@sinetti/relay/contract/blobs']),
  client(5, 'net/emails.ts', [], ['@sinetti/relay/contract/emails']),
  client(5, 'net/http.ts', ['lib'], ['ky']),
  client(5, 'net/mqtt.ts', ['lib'], ['mqtt', '@sinetti/relay/contract']),
  {
    door: 5,
    room: 'src/serviceWorker',
    may: ['src/lib/trustedScriptUrl.ts', 'verify/src/chain'],
    packages: ['@sinetti/relay/contract/operator'],
  },

  { door: 6, room: 'relay/contract', may: [], packages: ['zod/mini'] },

  // It needs no package that somebody would have to trust beside it.
  {
    door: 7,
    room: 'verify/src',
    may: [],
    packages: ['node:*', 'node:fs/promises'],
    own: ['./**', '../*', '../chain/*'],
  },
  // Service workers verify by it, too, which have nothing of Node.js.
  { door: 7, room: 'verify/src/chain', may: [], packages: [] },
];

const isFile = (name) => /\.\w+$/.test(name);

/** Returns the ways in which a file of the room may write the target, however deep the file lies in its room. */
function specifiers(room, target) {
  const name = path.posix.relative(isFile(room) ? path.posix.dirname(room) : room, target);
  const pattern = isFile(name) ? `${name}*` : path.posix.join(name, '**');
  if (!name.startsWith('..')) return [`./${pattern}`, `../${pattern}`];
  const down = pattern.replace(/^(?:\.\.\/)+/, '');
  return ['..', '../..', '../../..', '../../../..'].map((up) => `${up}/${down}`);
}

function patternsOf({ door, room, own = ['./**'], may, packages = [], typesOf = [] }) {
  const allowed = [
    ...own,
    ...[...may, ...typesOf].flatMap((target) => specifiers(room, target)),
    ...packages,
  ];
  const rooms = may.length === 0 ? 'no other room' : `${may.join(', ')} only`;
  return [
    // A group that lets something through ends the search, so these come first.
    ...typesOf.map((target) => ({
      regex: `/${path.posix.basename(target)}/`,
      message: `Door ${door}: ${room} imports types only of ${target}.`,
      allowTypeImports: true,
    })),
    {
      group: ['**', ...allowed.map((pattern) => `!${pattern}`)],
      message: `Door ${door}: ${room} imports ${rooms}, and the packages that build/doors.mjs lists.`,
    },
  ];
}

/** The linter compares paths as they are written. */
const roundabout = {
  regex: '(?:^\\./+|[^./]/+)\\.\\.(?:/|$)|//|node_modules',
  message: 'Door 1 to 7: a path leads up first, then down.',
};

/** The names in package.json's `imports` hide the room that they lead to from these patterns. */
const testsOnly = {
  regex: '^#',
  message: 'Door 1 to 7: only tests import by a name with #.',
};

const relayKeepsOut = {
  regex:
    '(^(\\.\\./)+(src|crypto-core|workers)/|^@sinetti/crypto-core|^libsodium|^ts-mls|^@hpke/|^sodium|^node:module$)',
  message: 'Door 6: the relay cannot decrypt because it has no code to.',
};

const filesOf = (room) => [isFile(room) ? room : `${room}/**`];

/** Rows of the linter's `overrides`. */
export const doors = [
  ...rooms.map((room) => ({
    files: filesOf(room.room),
    patterns: [roundabout, testsOnly, ...patternsOf(room)],
  })),
  {
    files: ['relay/src/**'],
    patterns: [
      roundabout,
      testsOnly,
      relayKeepsOut,
      {
        regex: '^(?:kysely|libsql|pg|@libsql|better-sqlite3|node:sqlite)',
        message: 'Door 6: SQL stays in repositories, db and migrations.',
      },
    ],
  },
  {
    files: ['relay/src/repositories/**', 'relay/src/db/**', 'relay/migrations/**'],
    patterns: [
      roundabout,
      testsOnly,
      relayKeepsOut,
      {
        regex: '/(routes|mqtt|presence|messaging)/',
        message: 'Door 6: database code knows neither HTTP nor MQTT nor messaging.',
      },
    ],
  },
  { files: ['build/**'], patterns: [testsOnly] },
];
