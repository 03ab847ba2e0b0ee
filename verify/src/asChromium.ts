/**
 * How Chromium asks for something, by what it is for. `iframe` is asked of the origin of the page, `keysFrame` of the one that it leads to;
 * `preload` is a call that the page announces, `imported` a script that a service worker imports.
 */
export type Destination =
  | 'document'
  | 'iframe'
  | 'keysFrame'
  | 'script'
  | 'style'
  | 'font'
  | 'image'
  | 'manifest'
  | 'preload'
  | 'empty'
  | 'worker'
  | 'serviceworker'
  | 'imported';

type Pair = readonly [name: string, value: string];

/** The version whose headers these are. Chromium sends the same in each version but for these numbers: keep them near the newest. */
const version = '156';
const brand: Pair = ['sec-ch-ua', `"Not:A-Brand";v="8", "Chromium";v="${version}"`];
const mobile: Pair = ['sec-ch-ua-mobile', '?0'];
const platform: Pair = ['sec-ch-ua-platform', '"Linux"'];
const agent: Pair = [
  'User-Agent',
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
];
const anything: Pair = ['Accept', '*/*'];
const pages =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/jxl,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';
const images = 'image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';
const encodings = 'gzip, deflate, br, zstd';

const fetching = (site: string, mode: string, destination: string, user: readonly Pair[] = []): Pair[] => [
  ['Sec-Fetch-Site', site],
  ['Sec-Fetch-Mode', mode],
  ...user,
  ['Sec-Fetch-Dest', destination],
];

const navigation = (site: string, destination: string, user: readonly Pair[] = []): Pair[] => [
  brand,
  mobile,
  platform,
  ['Upgrade-Insecure-Requests', '1'],
  agent,
  ['Accept', pages],
  ...fetching(site, 'navigate', destination, user),
];

/** A page's own request. With an origin it is one that the page may read, and so are fonts, modules and what is marked `crossorigin`. */
const ofPage = (accept: Pair, mode: string, destination: string, origin: readonly Pair[] = []): Pair[] => [
  ...origin,
  platform,
  agent,
  brand,
  mobile,
  accept,
  ...fetching('same-origin', mode, destination),
];

/** The headers between `Connection` and `Accept-Encoding`, in Chromium's order. */
const kinds: Readonly<Record<Destination, (origin: readonly Pair[]) => Pair[]>> = {
  document: () => navigation('none', 'document', [['Sec-Fetch-User', '?1']]),
  iframe: () => navigation('same-origin', 'iframe'),
  keysFrame: () => navigation('same-site', 'iframe'),
  script: (origin) => ofPage(anything, 'cors', 'script', origin),
  style: (origin) => ofPage(['Accept', 'text/css,*/*;q=0.1'], 'cors', 'style', origin),
  font: (origin) => ofPage(anything, 'cors', 'font', origin),
  image: () => ofPage(['Accept', images], 'no-cors', 'image'),
  manifest: () => ofPage(anything, 'cors', 'manifest'),
  preload: (origin) => ofPage(anything, 'cors', 'empty', origin),
  empty: () => ofPage(anything, 'cors', 'empty'),
  worker: () => [anything, ...fetching('same-origin', 'same-origin', 'worker'), agent],
  serviceworker: () => [
    ['Cache-Control', 'max-age=0'],
    anything,
    ['Service-Worker', 'script'],
    ...fetching('same-origin', 'same-origin', 'serviceworker'),
    agent,
  ],
  imported: () => [
    ['Cache-Control', 'max-age=0'],
    agent,
    anything,
    ...fetching('same-origin', 'no-cors', 'script'),
  ],
};

/**
 * Returns the headers of a request, names and values in turns, in the order and spelling in which Chromium sends them by HTTP/1.1.
 * There is no `Referer`, since a release's pages send none.
 * @param encoding the encodings that are taken, if not those of Chromium
 */
export function headersOf(url: string, destination: Destination, encoding = encodings): string[] {
  const { host, origin } = new URL(url);
  const pairs: Pair[] = [
    ['Host', host],
    ['Connection', 'keep-alive'],
    ...kinds[destination]([['Origin', origin]]),
    ['Accept-Encoding', encoding],
    ['Accept-Language', 'en-US,en;q=0.9'],
  ];
  return pairs.flat();
}
