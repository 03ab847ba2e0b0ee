import { createHash } from 'node:crypto';
import { canonicalBytes, type Json } from './chain/canonical.ts';
import { filled, headersAt, isOfDocument, keysPages, type Origins, waictPath } from './chain/expected.ts';
import type { Origin, ReleaseStatement } from './chain/statement.ts';
import { manifestPath } from './operator.ts';

/**
 * The manifest of an origin for browsers that know WAICT, by draft-waict-integrity-v2 (15 April 2026): the manifest, an empty
 * transparency proof, which the draft lets stand where no log is used, and the hashes of its WebAssembly.
 * @returns the body of `application/waict-integrity-manifest`, and its address at the origin, which its hash gives it
 */
export function waictManifest(
  release: Pick<ReleaseStatement, 'files' | 'wasm'>,
  origin: Origin,
): { readonly address: string; readonly body: Uint8Array } {
  const files = filesAsServed(release, origin);
  const pages: Readonly<Record<string, string>> =
    origin === 'app' ? { '/': files['/index.html'] ?? '' } : pagesOfKeys(files);
  const manifest: Json = {
    hashes: { ...files, ...pages },
    // Any route of the app answers with its one page.
    ...(origin === 'app' ? { fallback_hashes: [files['/index.html'] ?? ''] } : {}),
    ...(origin === 'keys' ? { wasm_hashes: release.wasm } : {}),
  };
  const body = Buffer.concat([canonicalBytes(manifest), Buffer.from('\n\n')]);
  const name = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { address: `${waictPath}/${name}`, body };
}

/**
 * The headers that a relay sends at a path of an origin: the release's, and with documents the one that names the manifest of that origin
 * for WAICT, by which nothing is refused. No service worker answers with it.
 */
export function headersOfRelay(
  release: ReleaseStatement,
  origin: Origin,
  path: string,
  origins: Origins,
): Record<string, string> {
  const headers = headersAt(release, origin, path, origins);
  if (!isOfDocument(release, origin, path)) return headers;
  const { address } = waictManifest(release, origin);
  return { ...headers, 'integrity-policy-waict-v1': `max-age=0, mode=report, manifest="${address}"` };
}

/** The hashes of the files that every relay serves alike: each has a name of the product in the manifest. */
function filesAsServed(
  release: Pick<ReleaseStatement, 'files'>,
  origin: Origin,
): Readonly<Record<string, string>> {
  const { [manifestPath]: _, ...others } = release.files[origin];
  return others;
}

function pagesOfKeys(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(keysPages).map(([path, file]) => [path, files[file] ?? '']));
}

/**
 * The `manifest` object of an origin for WEBCAT, by freedomofpress/webcat-spec of 9 December 2025, still to be given a
 * timestamp of Sigsum and to be signed by its own command (`webcat manifest sign`).
 * @param app the address of the project
 */
export function webcatManifest(
  release: ReleaseStatement,
  origin: Origin,
  app: string,
  origins: Origins,
): Readonly<Record<string, Json>> {
  const index = origin === 'app' ? '/index.html' : '/keys.html';
  return {
    app,
    version: release.version,
    default_csp: filled(release.policies[origin === 'app' ? 'page' : 'room'], origins),
    extra_csp: Object.fromEntries(
      Object.entries(release.policyOf[origin]).map(([path, name]) => [
        path,
        filled(release.policies[name], origins),
      ]),
    ),
    default_index: index,
    default_fallback: index,
    files: filesAsServed(release, origin),
    wasm: origin === 'keys' ? release.wasm : [],
  };
}
