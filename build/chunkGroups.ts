import path from 'node:path';
import type { Rolldown } from 'vite';

/**
 * Run by the build: how the client is cut into files. Left to itself the bundler makes one for each set of lazy imports
 * that have something in common, some sixty for one start, and each costs the browser more than what is in it. Here what
 * is loaded together is one file, and none imports from one that comes after it.
 */

/** The modules by which a part is entered; what they import statically belongs to it. */
const entries = {
  page: ['src/app/main.tsx'],
  landing: ['src/pages/landing/LandingPage.tsx'],
  client: ['src/app/bootstrap.ts'],
  forms: ['src/pages/auth/LoginPage.tsx', 'src/pages/auth/SignUpPage.tsx', 'src/pages/auth/RecoverPage.tsx'],
  session: ['src/services/client/signedIn.ts', 'src/pages/dashboard/DashboardPage.tsx', 'src/app/updates.ts'],
  screens: ['src/features/messages/Chat.tsx', 'src/pages/dashboard/tabs.ts'],
} as const;
type Part = keyof typeof entries;

type Graph = Pick<Rolldown.PluginContext, 'getModuleInfo'>;

/** The client's own modules; what they need of libraries the bundler finds itself, and more exactly. */
function modulesOf(part: Part, graph: Graph): ReadonlySet<string> {
  const modules = new Set<string>();
  const root = path.resolve(import.meta.dirname, '..');
  const due = entries[part].map((file) => path.join(root, file));
  for (let id = due.pop(); id !== undefined; id = due.pop()) {
    if (modules.has(id) || id.includes('/node_modules/')) continue;
    modules.add(id);
    due.push(...(graph.getModuleInfo(id)?.importedIds ?? []));
  }
  return modules;
}

type Has = (part: Part) => boolean;

/**
 * The files, each with what belongs in it and in none before it. Whatever is in none is loaded by itself when it is asked
 * for: a page of visitors, a dialog.
 */
const files: readonly (readonly [name: string, belongs: (has: Has) => boolean])[] = [
  ['page', (has) => has('page')],
  ['common', (has) => has('landing') && (has('client') || has('forms') || has('session') || has('screens'))],
  ['client', (has) => has('client')],
  ['forms', (has) => has('forms') && (has('session') || has('screens'))],
  ['session', (has) => has('session')],
  ['screens', (has) => has('screens')],
];

/** The bundler takes along what a file's modules import, unless a file of a higher priority has it. */
function partGroups() {
  let parts: ReadonlyMap<Part, ReadonlySet<string>> | null = null;
  function partsOf(graph: Graph) {
    parts ??= new Map(
      (Object.keys(entries) as Part[]).map((part) => [part, modulesOf(part, graph)] as const),
    );
    return parts;
  }
  return files.map(([name, belongs], index) => ({
    debugName: name,
    priority: files.length - index,
    name(id: string, graph: Graph) {
      const has: Has = (part) => partsOf(graph).get(part)?.has(id) === true;
      return belongs(has) ? name : null;
    },
  }));
}

const aheadOfAll = files.length + 1;

/** For the bundler's `codeSplitting.groups`. */
export const chunkGroups = [
  // A chunk that changes only with a dependency keeps its name, and its place in caches, across releases.
  {
    name: 'react',
    test: /node_modules\/(?:react|react-dom|react-router|react-router-dom|scheduler)\//,
    priority: aheadOfAll,
  },
  {
    name: 'mqtt',
    test: /node_modules\/(?:mqtt|mqtt-packet|readable-stream|buffer|bl)\/|\0mqtt-source/,
    priority: aheadOfAll,
  },
  // Each is used in several places: in files by use they would tie the landing page to the whole client.
  { name: 'icons', test: /\/lucide-react\/dist\/esm\/icons\//, priority: aheadOfAll },
  ...partGroups(),
];
