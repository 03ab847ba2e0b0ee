import { firstPiece, parseRange } from './ranges.ts';

/** Below it the service worker answers with sound and films that a page has opened; the relay has nothing there. */
const mediaPath = '/media/';

/** All that is ever played: a browser runs nothing of it. */
const playableTypes: ReadonlySet<string> = new Set([
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'video/mp4',
  'video/webm',
]);

/** The destinations of elements that play; a page, a frame or a script asks in vain. */
const players: ReadonlySet<string> = new Set(['audio', 'video']);

const handlePattern = /^[A-Za-z0-9-]{22,64}$/;

/** To the page that asked: say over the port that comes along what the file is, and open pieces of it. */
export interface MediaQuestion {
  readonly type: 'media';
  readonly handle: string;
}

/** The page's first answer over the port; each further one is to the index of a piece, and is its bytes or null. */
export interface MediaFacts {
  /** One of the closed list; others are refused. */
  readonly type: string;
  /** Bytes of the file, and of each piece but the last. */
  readonly size: number;
  readonly pieceLength: number;
}

/** The address of a file by its handle, which nobody can guess. */
export function mediaUrl(handle: string): string {
  return `${mediaPath}${handle}`;
}

export function isPlayable(type: string): boolean {
  return playableTypes.has(type);
}

/** Null for every other message. */
export function mediaHandleIn(data: unknown): string | null {
  if (typeof data !== 'object' || data === null) return null;
  const { handle, type } = data as Partial<MediaQuestion>;
  return type === 'media' && typeof handle === 'string' && handlePattern.test(handle) ? handle : null;
}

/** The parts of the platform's types of these names that are used: pages are checked without them. */
interface Asking {
  postMessage(message: MediaQuestion, transfer: Transferable[]): void;
}
export interface MediaClients {
  get(id: string): Promise<Asking | undefined>;
}

/**
 * Answers an element that plays a file which its page has opened; null for every other request. Nothing of it stays here: each
 * time the page that asks is asked, whichever it is, so that a handle is worth nothing in another one, and neither the browser
 * that stops this worker nor its next version breaks a player off. An answer has one piece at most, which is what there is of a
 * file in memory; the element asks for the next.
 */
export function answerMedia(
  request: Pick<Request, 'destination' | 'headers' | 'method' | 'url'>,
  clientId: string,
  { origin, clients }: { readonly origin: string; readonly clients: MediaClients },
): Promise<Response> | null {
  const url = new URL(request.url);
  if (url.origin !== origin || !url.pathname.startsWith(mediaPath)) return null;
  const handle = url.pathname.slice(mediaPath.length);
  const isAllowed = request.method === 'GET' && players.has(request.destination);
  return isAllowed && handlePattern.test(handle)
    ? answerPlayer(handle, request.headers.get('range') ?? '', clientId, clients)
    : Promise.resolve(refusal(404));
}

async function answerPlayer(
  handle: string,
  range: string,
  clientId: string,
  clients: MediaClients,
): Promise<Response> {
  const page = await clients.get(clientId);
  if (page === undefined) return refusal(404);
  const { port1, port2 } = new MessageChannel();
  try {
    const described = Promise.race([nextMessage(port1), nothing(patience)]);
    page.postMessage({ type: 'media', handle }, [port2]);
    const facts = readFacts(await described);
    if (facts === null) return refusal(404);
    const asked = parseRange(range, facts.size);
    if (asked === null) return refusal(416, { 'content-range': `bytes */${facts.size}` });
    const { from, index, to } = firstPiece(asked, facts.pieceLength);
    const opened = nextMessage(port1);
    port1.postMessage(index);
    const piece = await opened;
    const start = index * facts.pieceLength;
    if (!(piece instanceof ArrayBuffer) || piece.byteLength < to - start) return refusal(502);
    return new Response(new Uint8Array(piece, from - start, to - from), {
      status: 206,
      headers: {
        ...harmless,
        'accept-ranges': 'bytes',
        'content-length': String(to - from),
        'content-range': `bytes ${from}-${to - 1}/${facts.size}`,
        'content-type': facts.type,
      },
    });
  } finally {
    port1.close();
  }
}

/** The answer is shown as nothing but what its type says, and runs and loads nothing. */
const harmless = {
  'cache-control': 'no-store',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

function refusal(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers: { ...harmless, ...headers } });
}

/** Milliseconds for a page to say what it has: one that plays nothing listens to no question. */
const patience = 5_000;

function nothing(afterMs: number): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), afterMs);
  });
}

function nextMessage(port: MessagePort): Promise<unknown> {
  return new Promise((resolve) => {
    port.addEventListener('message', ({ data }) => resolve(data), { once: true });
    port.start();
  });
}

/** Null for what the page should not have said, of which nothing is played. */
function readFacts(data: unknown): MediaFacts | null {
  if (typeof data !== 'object' || data === null) return null;
  const { pieceLength, size, type } = data as Partial<MediaFacts>;
  const isLength = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
  if (!isLength(size) || !isLength(pieceLength) || pieceLength > largestPiece) return null;
  return typeof type === 'string' && isPlayable(type) ? { type, size, pieceLength } : null;
}

/** The most bytes of a piece: pages of an earlier version have pieces of twice the length that there are now. */
const largestPiece = 1024 * 1024;
