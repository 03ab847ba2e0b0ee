import { sha256 } from '../chain/canonical.ts';
import { Failure } from '../chain/errors.ts';
import type { Origins } from '../chain/expected.ts';
import { origins as bothOrigins, type ReleaseStatement } from '../chain/statement.ts';
import { fileKey } from '../compare.ts';
import type { Fetcher } from '../fetching.ts';
import { manifestPath, type OperatorSettings, releasedManifest } from '../operator.ts';

/**
 * Fetches the files of a release from a relay, each of which has to be the one that was signed.
 * @param settings by which the relay has filled in the manifest
 * @returns their contents by {@link fileKey}, the manifest as it was released
 * @throws Failure `different` naming the files that are not
 */
export async function fetchRelease(
  release: ReleaseStatement,
  origins: Origins,
  settings: OperatorSettings,
  fetcher: Fetcher,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const wrong: string[] = [];
  await Promise.all(
    bothOrigins.flatMap((origin) =>
      Object.entries(release.files[origin]).map(async ([path, hash]) => {
        const url = `${origins[origin]}${path}`;
        const { content: served, status } = await fetcher.get(url, 'empty');
        const isFilled = origin === 'app' && path === manifestPath;
        const content = isFilled ? releasedManifest(served, settings) : served;
        if (status === 200 && (await sha256(content)) === hash) files.set(fileKey(origin, path), content);
        else wrong.push(url);
      }),
    ),
  );
  if (wrong.length > 0) {
    throw new Failure('different', `Not the files of the release: ${wrong.toSorted().join(', ')}`);
  }
  return files;
}
