import { operatorPath } from '@sinetti/relay/contract/operator';
import { canonicalText, sha256, toBase64url } from '../../verify/src/chain/canonical.ts';
import type { Chain } from '../../verify/src/chain/chain.ts';
import { Failure } from '../../verify/src/chain/errors.ts';
import {
  commands,
  connectOf,
  headersAt,
  type Origins,
  settingsIn,
  workerSettings,
} from '../../verify/src/chain/expected.ts';
import { chainOf, grownChain, releasesPath } from '../../verify/src/chain/reading.ts';
import { type Origin, parseStatement, type ReleaseStatement } from '../../verify/src/chain/statement.ts';
import { appOf } from './appOf.ts';
import { known, type Pin, parsePin, type Release, released, textOfPin } from './pinRecord.ts';
import type { Build, OperatorSettings, Precache } from './precache.ts';
import { readWhole } from './readWhole.ts';
import { changes } from './releaseChanges.ts';
import type { ReleaseRefusal, ReleaseVerdict } from './releaseMessages.ts';

export interface PinnedReleasesOptions {
  /** Which of the two origins this service worker is of, and its address. */
  readonly origin: Origin;
  readonly address: string;
  readonly build: Build;
  readonly settings: OperatorSettings;
  readonly caches: Pick<CacheStorage, 'match' | 'open'>;
  /** Runs what no other version of this service worker may run beside it. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  /** A release is held on to; the page may have forgotten it. */
  readonly onPinned?: () => void;
  readonly fetch: typeof globalThis.fetch;
}

const script = '/service-worker.js';
/** The operator's settings, and no code: the script imports it before anything else. */
const settingsScript = '/operator.js';
/** Milliseconds in which an answer has to be whole. */
const patience = 60_000;
const pages = { app: '/index.html', keys: '/keys.html' } as const;
const cacheName = 'releases';
/** Half of the relays being ahead, one look in a hundred finds none that is not. */
const timesAsked = 6;
/** Steps of the chain that an older script is looked for in. */
const mostOlder = 50;
const recordPath = '/pin';
/** Says by its hash which release is all here, whether anybody agrees to it or not. */
const wholePath = '/whole';

/**
 * Holds on to the signed release that is in use (docs/RELEASES.md): another one comes into use once the chain leads to it and the
 * person has agreed. A relay without a chain is served as ever, until it has one.
 */
export class PinnedReleases {
  readonly #options: PinnedReleasesOptions;

  constructor(options: PinnedReleasesOptions) {
    this.#options = options;
  }

  /**
   * Installs this version: its files are those of the newest release of the chain, and that is the one which the person has agreed to.
   * @param download fetches all files, each as it was built
   * @throws Failure otherwise; `agreement` once all is here, and the person has still to agree
   */
  async install(download: () => Promise<void>): Promise<void> {
    const pin = await this.#read();
    const chain = await this.#chain(pin);
    if (chain === null) return download();
    const release = released(chain);
    this.#requireSameRoom(pin, this.#options.settings);
    this.#requireBuilt(release);
    this.#requireSettings(release);
    await download();
    await this.#requireHeaders([release]);
    const cache = await this.#options.caches.open(cacheName);
    await cache.put(wholePath, new Response(release.hash));
    // The person may have agreed while all of it was on its way.
    const held = await this.#read();
    const isAgreed = held === null || held.agreed.hash === release.hash;
    await this.#advance(chain, isAgreed ? release : null);
    if (!isAgreed) throw new Failure('agreement', 'Nobody has agreed to this release yet.');
  }

  /** Returns whether this browser holds on to a release. */
  async isPinned(): Promise<boolean> {
    return (await this.agreed()) !== null;
  }

  /** Returns the release that the person has agreed to last; null where none is held on to. */
  async agreed(): Promise<Release | null> {
    return (await this.#read())?.agreed ?? null;
  }

  /** Returns the release that this version is of; null where none is held on to, or another one has been agreed to meanwhile. */
  async inUse(): Promise<Release | null> {
    const agreed = await this.agreed();
    return agreed !== null && this.#isOf(agreed) ? agreed : null;
  }

  /** Compares what the relay has now with what this browser holds on to. */
  async verdict(): Promise<ReleaseVerdict> {
    const pin = await this.#read();
    try {
      const chain = await this.#chain(pin);
      if (chain === null) return { state: 'unsigned' };
      const release = released(chain);
      if (pin === null) return await this.#begin(chain, release);
      // The chain as it was seen is kept for later; a full storage is no reason not to look.
      await this.#advance(chain, null).catch(() => undefined);
      if (!(await this.#isScriptOf([pin.agreed, release])))
        throw new Failure('different', `${script} is of no release.`);
      const imported = await this.#ask(settingsScript);
      this.#requireSameRoom(pin, await settingsOf(imported));
      await this.#requireHeaders([release, pin.agreed], await this.#originsNow(), imported);
      const { hash, version } = release;
      // A release that is still being downloaded is nobody's question yet.
      if (hash === pin.agreed.hash || !(await this.#isHere(release)))
        return { state: 'current', version: pin.agreed.version };
      return { state: 'newer', release: hash, version, ...changes(pin.agreed, release) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code === 'unreachable') return { state: 'unreachable' };
      // The chain may have grown since: the script of a newer release is no stranger's.
      const held = (await this.#read()) ?? pin;
      return refusal(error.code, error.message, held === null || (await this.#isScriptSigned(held)));
    }
  }

  /** The relay has a chain since this version was installed: it is held on to from here, if it is the one that is in use. */
  async #begin(chain: Chain, release: Release): Promise<ReleaseVerdict> {
    if (!(await this.#isScriptOf([release])))
      return refusal('different', `${script} is of no release.`, true);
    // The version that follows begins with it.
    if (!this.#isOf(release)) return { state: 'unsigned' };
    await this.#requireHeaders([release]);
    await this.#advance(chain, release);
    return { state: 'current', version: release.version };
  }

  /**
   * Notes that the person agrees to a release, as which it is verified once more.
   * @returns whether it is the newest one of the chain, and all of it is here
   */
  async agree(hash: string): Promise<boolean> {
    const pin = await this.#read();
    if (pin === null) return false;
    try {
      const chain = await grownChain(this.#file, known(pin));
      if (released(chain).hash !== hash || !(await this.#isHere(released(chain)))) return false;
      await this.#advance(chain, released(chain));
      return true;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  }

  /** The chain up to its end; null where there is none, and never was for this browser. */
  async #chain(pin: Pin | null): Promise<Chain | null> {
    if (pin !== null) return grownChain(this.#file, known(pin));
    try {
      const first = await this.#file('chain/1.json');
      return first === null ? null : await chainOf(this.#file, await sha256(first), null);
    } catch (error) {
      const isNone = error instanceof Failure && ['unsigned', 'unreachable'].includes(error.code);
      // A browser without Ed25519 verifies nothing.
      if (isNone || (error instanceof DOMException && error.name === 'NotSupportedError')) return null;
      throw error;
    }
  }

  readonly #file = async (name: string): Promise<Uint8Array | null> => {
    const answer = await this.#ask(`${releasesPath}/${name}`);
    if (answer.status === 404) return null;
    return readWhole(answer, name);
  };

  async #ask(path: string): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(patience);
      return await this.#options.fetch(path, {
        cache: 'no-cache',
        credentials: 'omit',
        redirect: 'error',
        signal,
      });
    } catch {
      throw new Failure('unreachable', `${path} can't be had.`);
    }
  }

  #requireBuilt(release: ReleaseStatement): void {
    const files = release.files[this.#options.origin];
    const other = this.#options.build.files.find(
      ({ path, sha256: hash }) => files[path] !== inBase64url(hash),
    );
    if (other !== undefined) throw new Failure('different', `${other.path} is not the release's.`);
  }

  /** The settings come from the relay: the headers in them are those of the release, or of no one. */
  #requireSettings(release: ReleaseStatement): void {
    const { origin, settings } = this.#options;
    const { headers } = workerSettings(release, this.#origins()) as Pick<OperatorSettings, 'headers'>;
    const isSame = canonicalText(headers[origin]) === canonicalText(settings.headers[origin]);
    if (!isSame) throw new Failure('different', `${settingsScript} has other headers than the release.`);
  }

  /** @throws Failure `different` where the page would have another origin's frame, of which nothing is held on to */
  #requireSameRoom(pin: Pin | null, { keysOrigin }: Pick<OperatorSettings, 'keysOrigin'>): void {
    const { origin, settings } = this.#options;
    const held = pin?.keysOrigin ?? settings.keysOrigin;
    if (origin === 'app' && keysOrigin !== held)
      throw new Failure('different', `${settingsScript} has another origin of the keys, ${keysOrigin}.`);
  }

  /**
   * Headers of the two answers that a browser takes as they come: the page, before there is a service worker, and its script. One that
   * commands the browser has no place there, whatever the release has.
   * @param releases the newest one, and the one in use: others behind one address may have that still
   * @param imported the answer with the settings, where it has been asked for
   */
  async #requireHeaders(
    releases: readonly ReleaseStatement[],
    origins = this.#origins(),
    imported?: Response,
  ): Promise<void> {
    const { origin } = this.#options;
    const settings = imported ?? (await this.#ask(settingsScript));
    const commanding = commands.find((name) => settings.headers.has(name));
    if (commanding !== undefined)
      throw new Failure('different', `${settingsScript} has the header ${commanding}.`);
    for (const path of [pages[origin], script]) {
      const { headers, ok } = await this.#ask(path);
      if (!ok) throw new Failure('unreachable', `${path} can't be had.`);
      const command = commands.find((name) => headers.has(name));
      const [wrong, ...others] = releases.map((release) => {
        // Others on the way may add to what varies, and to how long it is kept.
        const { vary: _, 'cache-control': __, ...expected } = headersAt(release, origin, path, origins);
        return Object.entries(expected).find(([name, value]) => headers.get(name) !== value)?.[0];
      });
      const name = others.includes(undefined) ? command : (command ?? wrong);
      if (name !== undefined)
        throw new Failure('different', `${this.#options.address}${path} has another ${name}.`);
    }
  }

  #origins(operator = this.#options.settings.operator): Origins {
    const { address, origin, settings } = this.#options;
    if (origin === 'keys') return { app: appOf(address), keys: address };
    const { apiHost, mqttUrl } = { apiHost: null, mqttUrl: null, ...(operator as object) };
    return { app: address, keys: settings.keysOrigin, connect: connectOf({ apiHost, mqttUrl }) };
  }

  /** With the operator's addresses of today, which are in no release; this version has those of its installation. */
  async #originsNow(): Promise<Origins> {
    if (this.#options.origin === 'keys') return this.#origins();
    const content = await readWhole(await this.#ask(operatorPath), operatorPath);
    try {
      return this.#origins(JSON.parse(new TextDecoder().decode(content)));
    } catch {
      throw new Failure('different', `${operatorPath} can't be read.`);
    }
  }

  /** Returns whether all files of a release are here: they were installed beside those in use, or are the same. */
  async #isHere(release: Release): Promise<boolean> {
    const whole = await this.#options.caches.match(wholePath, { cacheName });
    return (await whole?.text()) === release.hash || this.#isOf(release);
  }

  /** Returns whether this version was built of a release, and has its headers. */
  #isOf(release: Release): boolean {
    try {
      this.#requireBuilt(release);
      this.#requireSettings(release);
      return true;
    } catch {
      return false;
    }
  }

  async #isScriptOf(releases: readonly ReleaseStatement[]): Promise<boolean> {
    const isOf = await this.#comparesScript();
    return releases.some(isOf);
  }

  /** Fetches the script. @returns whether it is a release's */
  async #comparesScript(): Promise<(release: ReleaseStatement) => boolean> {
    const hash = await sha256(await readWhole(await this.#ask(script), script));
    return ({ files }) => files[this.#options.origin][script] === hash;
  }

  /** Returns whether the script is of a release of this chain all the same: of that in use, or of an older one which the relay went back to. */
  async #isScriptSigned(pin: Pin): Promise<boolean> {
    try {
      await settingsOf(await this.#ask(settingsScript));
      // Some relays behind one address have the next script before others have its release: to lock for that would log everybody out.
      for (let asked = 0; asked < timesAsked; asked += 1)
        if (await this.#isScriptOf([pin.agreed, pin.newest])) return true;
      const older = await chainOf(this.#file, pin.hashes[0] ?? '', null);
      const isBefore = older.hashes.every((hash, at) => hash === pin.hashes[at]);
      return (isBefore && (await this.#isScriptOf([released(older)]))) || (await this.#isScriptSeen(pin));
    } catch (error) {
      // Without an answer no other script has come either.
      return error instanceof Failure && error.code === 'unreachable';
    }
  }

  /** Returns whether the script is of a release that this browser has seen in its chain: a cache on the way may be that old. */
  async #isScriptSeen({ hashes }: Pin): Promise<boolean> {
    const isOf = await this.#comparesScript();
    for (let seq = hashes.length; seq > Math.max(hashes.length - mostOlder, 0); seq -= 1) {
      const step = await this.#file(`chain/${seq}.json`);
      if (step === null || (await sha256(step)) !== hashes[seq - 1]) continue;
      const statement = parseStatement(step);
      if (statement.type === 'sinetti-release' && isOf(statement)) return true;
    }
    return false;
  }

  /** Null for the first visit, and for what somebody has written in the place of a pin: they could delete it as well. */
  async #read(): Promise<Pin | null> {
    const text = await this.#record();
    return text === undefined ? null : parsePin(text);
  }

  /** The record of the pin as it is kept. Where the storage fails nothing is said of it. */
  async #record(): Promise<string | undefined> {
    return (await this.#options.caches.match(recordPath, { cacheName }))?.text();
  }

  /**
   * Keeps how far the chain goes now.
   * @param agreed the release that is in use from now on; null for the one that is, which another tab may have agreed to meanwhile
   */
  #advance(chain: Chain, agreed: Release | null): Promise<void> {
    return this.#options.exclusively(() => this.#write(chain, agreed));
  }

  async #write(chain: Chain, agreed: Release | null): Promise<void> {
    const cache = await this.#options.caches.open(cacheName);
    const before = await this.#record();
    const kept = before === undefined ? null : await parsePin(before);
    const inUse = agreed !== null && agreed.seq >= (kept?.agreed.seq ?? 0) ? agreed : kept?.agreed;
    if (inUse === undefined) return;
    // Another tab may have seen more, while the relay took its time to answer this one.
    const seen = kept !== null && kept.hashes.length > chain.seq ? known(kept) : chain;
    const keysOrigin = kept?.keysOrigin ?? this.#options.settings.keysOrigin;
    const pin: Pin = {
      hashes: seen.hashes,
      keys: seen.keys,
      newest: released(seen),
      agreed: inUse,
      keysOrigin,
    };
    const text = textOfPin(pin);
    if (before !== text) await cache.put(recordPath, new Response(text));
    this.#options.onPinned?.();
  }
}

/**
 * Installs a version that was released, or that of a relay without releases.
 * @param onRefused is told what the relay serves in the place of a release
 */
export async function installReleased(
  releases: PinnedReleases,
  precache: Precache,
  onRefused: (refusal: ReleaseRefusal) => Promise<void>,
): Promise<void> {
  try {
    await releases.install(() => precache.install());
  } catch (error) {
    if (error instanceof Failure && !['agreement', 'unreachable'].includes(error.code)) {
      await onRefused(refusal(error.code, error.message, true));
    }
    throw error;
  }
}

/** Reads the settings as the relay has them. @throws Failure `different` where they are more than that: code, which every version would run */
async function settingsOf(imported: Response): Promise<Pick<OperatorSettings, 'keysOrigin'>> {
  const content = await readWhole(imported, settingsScript);
  const settings = settingsIn(new TextDecoder().decode(content));
  if (settings === null) throw new Failure('different', `${settingsScript} is more than settings.`);
  return settings as Pick<OperatorSettings, 'keysOrigin'>;
}

function refusal(code: string, reason: string, isKnownScript: boolean): ReleaseRefusal {
  return { state: 'refused', code, reason, isKnownScript };
}

function inBase64url(hexadecimal: string): string {
  return toBase64url(Uint8Array.from(hexadecimal.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
}
