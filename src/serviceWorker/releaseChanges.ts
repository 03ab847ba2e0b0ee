import { canonicalText, type Json } from '../../verify/src/chain/canonical.ts';
import { origins as bothOrigins, type ReleaseStatement } from '../../verify/src/chain/statement.ts';

/** The parts that a person agrees to: the room is that of the keys, and policies say what pages and workers may do. */
export function changes(
  former: ReleaseStatement,
  next: ReleaseStatement,
): Readonly<Record<'app' | 'room' | 'policies', boolean>> {
  const differs = (part: (release: ReleaseStatement) => unknown) =>
    textOf(part(former)) !== textOf(part(next));
  const [app, room] = bothOrigins.map((origin) => differs(({ files }) => files[origin]));
  const policies = differs(({ caching, documents, headers, policies, policyOf }) => ({
    caching,
    documents,
    headers,
    policies,
    policyOf,
  }));
  return { app: app === true, room: room === true || differs(({ wasm }) => wasm), policies };
}

/** Without the hashes in policies: each is of something in a page, which is one of the files and changes with it. */
function textOf(part: unknown): string {
  return canonicalText(part as Json).replaceAll(/'sha256-[\w+/]{43}='/g, "'sha256'");
}
