import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttachedFile, MessageView } from '#src/crypto/client.ts';
import { AppError } from '#src/lib/appError.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createArchivedNames, isInert } from '#src/services/export/archivedNames.ts';
import type { ReadFile } from '#src/services/export/files.ts';
import { createPatientBlobs } from '#src/services/files/patientBlobs.ts';
import { type ExportProgress, exportProgressAtom } from '#src/store/account.ts';
import { readZip } from '#tests/support/zip.ts';
import { settled } from '../net/support/fakeClock.ts';
import { received, testDeps } from './support/deps.ts';
import { exporting, logOf } from './support/exported.ts';

const pdf = { name: 'plan.pdf', type: 'application/octet-stream', kind: 'file', description: '' } as const;
const picture = { ...pdf, name: 'lake.png', type: 'image/png', kind: 'picture' } as const;
const film = { ...pdf, name: 'boat.webm', type: 'video/webm', kind: 'film' } as const;
const webm = Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3, ...Buffer.from('webm')).buffer;

function withFiles(seq: number, ...files: Omit<AttachedFile, 'size'>[]): MessageView {
  const sized = files.map((file) => ({ ...file, size: 8 }));
  return received(seq, { content: { kind: 'files', text: '', files: sized } });
}

/** Files that read as given, by message and place: pieces, and a failure after them. */
function reading(files: Readonly<Record<string, readonly (ArrayBuffer | Error)[]>>): ReadFile {
  return async function* read({ index, messageId }) {
    for (const piece of files[`${messageId}/${index}`] ?? []) {
      if (piece instanceof Error) throw piece;
      yield piece;
    }
  };
}

const text = (words: string) => Uint8Array.from(Buffer.from(words)).buffer;
const page = (parts: ReadonlyMap<string, Buffer>) =>
  new DOMParser().parseFromString(parts.get('user-data.html')?.toString() ?? '', 'text/html');
const gone = new AppError('not-found', 'gone');
const damaged = new AppError('damaged-file', 'damaged');
const offline = new AppError('unreachable', 'offline', { cause: new NetworkError('unreachable') });

describe('an export with files', () => {
  const logs = logOf([
    withFiles(1, pdf, { ...picture, description: 'A blue lake', width: 640, height: 480 }),
    received(2),
    withFiles(3, film, { ...picture }),
  ]);
  const read = reading({
    'm1/0': [text('a plan of'), text(' the house')],
    'm1/1': [text('pixels')],
    'm3/0': [webm],
    'm3/1': [text('others')],
  });

  it('is a ZIP with each file as it was sent, which the JSON names', async () => {
    const { file, run } = exporting({ logs, read });
    expect(await run('json', true)).toEqual({ written: 4, missing: 0 });
    expect(file.outcome).toBe('closed');
    const parts = readZip(file.bytes);
    expect([...parts.keys()]).toEqual([
      'files/plan.pdf',
      'files/lake.png',
      'files/boat.webm',
      'files/lake (2).png',
      'user-data.json',
    ]);
    expect(parts.get('files/plan.pdf')?.toString()).toBe('a plan of the house');
    expect(parts.get('files/lake (2).png')?.toString()).toBe('others');
    const { messages } = JSON.parse(parts.get('user-data.json')?.toString() ?? '');
    expect(messages).toMatchObject([
      {
        files: [
          { name: 'plan.pdf', path: 'files/plan.pdf', missing: null },
          { path: 'files/lake.png', width: 640 },
        ],
      },
      { files: [] },
      { files: [{ path: 'files/boat.webm' }, { path: 'files/lake (2).png' }] },
    ]);
  });

  it('shows pictures and plays films in its page by relative links, which are all that its policy allows', async () => {
    const { file, run } = exporting({ logs, read });
    await run('html', true);
    const document = page(readZip(file.bytes));
    const addresses = (selector: string, name: string) =>
      [...document.querySelectorAll(selector)].map((element) => element.getAttribute(name));
    expect(addresses('img', 'src')).toEqual(['files/lake.png', 'files/lake%20(2).png']);
    expect(addresses('img', 'alt')).toEqual(['A blue lake', 'lake.png']);
    expect(addresses('video', 'src')).toEqual(['files/boat.webm']);
    expect(addresses('.files a', 'href')).toContain('files/plan.pdf');
    const policy = document.querySelector('meta[http-equiv]')?.getAttribute('content');
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/);
    expect(policy).toMatch(/form-action 'none'; img-src 'self' file:; media-src 'self' file:$/);
    // Without files it is as it was.
    const plain = exporting({ logs, read });
    await plain.run('html');
    expect(plain.file.text).toContain('form-action &#39;none&#39;">');
    expect(plain.file.text).not.toContain('files/');
  });

  it('goes on where a file can’t be had, and says of each why', async () => {
    const pieces = Array.from({ length: 6 }, () => text('12345678'));
    const failing = reading({
      'm1/0': [gone],
      'm1/1': [text('begun'), damaged],
      'm3/0': [offline],
      // Too long to be held until its end is known.
      'm3/1': [...pieces, offline],
    });
    const { file, run } = exporting({ logs, read: failing });
    expect(await run('json', true)).toEqual({ written: 0, missing: 4 });
    const parts = readZip(file.bytes);
    expect([...parts.keys()]).toEqual(['files/lake.png', 'user-data.json']);
    expect(parts.get('files/lake.png')).toHaveLength(48);
    const { messages } = JSON.parse(parts.get('user-data.json')?.toString() ?? '');
    expect(messages.flatMap((message: { files: object[] }) => message.files)).toMatchObject([
      { path: null, missing: 'gone' },
      { path: null, missing: 'damaged' },
      { path: null, missing: 'unreachable' },
      { path: 'files/lake.png', missing: 'unreachable' },
    ]);
    const forPeople = exporting({ logs, read: failing });
    await forPeople.run('html', true);
    const document = page(readZip(forPeople.file.bytes));
    expect(document.querySelectorAll('img, video')).toHaveLength(0);
    const said = [...document.querySelectorAll('.files li')].map(({ textContent }) => textContent);
    expect(said[0]).toContain('Not here: the server no longer has it.');
    expect(said[3]).toContain('the server could not be reached, or gave no more.');
  });

  it('leads to nothing that a browser would run or fetch', async () => {
    const messages = [
      withFiles(1, { ...pdf, name: 'invoice.html' }, { ...film, name: 'list.webm' }),
      withFiles(2, { ...picture, name: 'x.svg' }),
      withFiles(3, { ...pdf, name: 'boat.mp4' }),
    ];
    const { file, run } = exporting({
      logs: logOf(messages),
      read: reading({
        'm1/0': [text('<script>')],
        'm1/1': [text('#EXTM3U https://')],
        'm2/0': [text('<svg>')],
        'm3/0': [text('#EXTM3U https://')],
      }),
    });
    await run('html', true);
    const parts = readZip(file.bytes);
    // The playlist that calls itself a film is bytes, and what is shown as a picture is called one.
    expect([...parts.keys()].slice(0, 3)).toEqual([
      'files/invoice.html',
      'files/list.webm.bin',
      'files/x.svg.png',
    ]);
    const document = page(parts);
    const links = [...document.querySelectorAll('.files a, .files video, .files img')].map(
      (element) => element.getAttribute('href') ?? element.getAttribute('src'),
    );
    expect(links).toEqual(['files/x.svg.png', 'files/x.svg.png', 'files/x.svg.png']);
    expect([...document.querySelectorAll('.files code')].map(({ textContent }) => textContent)).toEqual([
      'files/invoice.html',
      'files/list.webm.bin',
      'files/boat.mp4',
    ]);
  });

  it('tells of a file that came while the archive was made', async () => {
    const world = exporting({ logs, read });
    let isSecond = false;
    const messages = world.deps.crypto.messages.bind(world.deps.crypto);
    world.deps.crypto.messages = async (id, given) => {
      const found = await messages(id, given);
      if (!isSecond) {
        isSecond = true;
        return found;
      }
      return [...found, withFiles(4, pdf)];
    };
    await world.run('json', true);
    const data = JSON.parse(readZip(world.file.bytes).get('user-data.json')?.toString() ?? '');
    expect(data.messages.at(-1).files).toMatchObject([{ path: null, missing: 'later' }]);
  });

  it('has a few pieces in memory at a time, waits for a slow disk, and tells its progress by bytes', async () => {
    const pieceLength = 512 * 1024;
    const count = 30;
    const big = received(1, {
      content: { kind: 'files', text: '', files: [{ ...pdf, size: count * pieceLength }] },
    });
    const expected = createHash('sha256');
    let ahead = 0;
    let mostAhead = 0;
    const { deps, file, run } = exporting({
      logs: logOf([big]),
      read: async function* read() {
        for (let at = 0; at < count; at += 1) {
          ahead += 1;
          mostAhead = Math.max(mostAhead, ahead);
          const piece = new Uint8Array(pieceLength).fill(at);
          expected.update(piece);
          yield piece.buffer;
        }
      },
    });
    file.onWrite = async () => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      ahead -= 1;
    };
    const told: ExportProgress[] = [];
    deps.store.sub(exportProgressAtom, () => {
      const progress = deps.store.get(exportProgressAtom);
      if (progress?.unit === 'bytes') told.push(progress);
    });
    expect(await run('json', true)).toEqual({ written: 1, missing: 0 });
    expect(mostAhead).toBeLessThanOrEqual(3);
    expect(Math.max(...file.chunks.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(pieceLength);
    const content = readZip(file.bytes).get('files/plan.pdf') ?? '';
    expect(createHash('sha256').update(content).digest('hex')).toBe(expected.digest('hex'));
    expect(told.map(({ done }) => done)).toEqual(told.map(({ done }) => done).toSorted((a, b) => a - b));
    expect(told.length).toBeGreaterThan(count);
    expect(told.at(-1)).toMatchObject({ done: count * pieceLength, total: count * pieceLength });
  });

  it('leaves no file when it is cancelled while one comes', async () => {
    let reads = 0;
    const { dataExport, deps, file, run } = exporting({
      logs,
      read: async function* read() {
        reads += 1;
        yield text('some');
        dataExport.cancel();
        await settled();
        yield text('more');
      },
    });
    expect(await run('json', true)).toBeNull();
    await settled();
    expect(file.outcome).toBe('aborted');
    expect(file.chunks).toEqual([]);
    expect(reads).toBe(1);
    expect(deps.store.get(exportProgressAtom)).toBeNull();
  });

  it('ends with the session, and says so of no file', async () => {
    const { file, run } = exporting({
      logs,
      read: reading({ 'm1/0': [new AppError('locked', 'locked')] }),
    });
    await expect(run('json', true)).rejects.toMatchObject({ code: 'locked' });
    expect(file.outcome).toBe('aborted');
  });

  it('says before how much it would be', async () => {
    const { dataExport } = exporting({ logs });
    const { signal } = new AbortController();
    expect(await dataExport.measureFiles(signal)).toEqual({ count: 4, bytes: 32 });
  });
});

describe('names in an archive', () => {
  const named = (...names: string[]) => {
    const nameFor = createArchivedNames();
    return names.map((name) => nameFor({ ...pdf, name }, false));
  };

  it('lead nowhere else, hide nothing, and are names everywhere', () => {
    expect(
      named('../../etc/passwd', '..\\x.txt', '.bashrc', 'a\u202egpj.exe', 'a\u0000b', 'NUL.txt'),
    ).toEqual(['_.._etc_passwd', '_x.txt', 'bashrc', 'agpj.exe', 'ab', '_NUL.txt']);
    expect(named('', '...', ' . ', 'end. ', 'C:x?.pdf')).toEqual([
      'File without a name',
      '_',
      '_ (2)',
      'end',
      'C_x_.pdf',
    ]);
  });

  it('are none that Windows reads as soon as their folder is shown', () => {
    expect(
      named('a.library-ms', 'b.LNK', 'c.url', 'd.scf ', 'Desktop.ini', 'e.searchConnector-ms', 'f.url.pdf'),
    ).toEqual([
      'a.library-ms.bin',
      'b.LNK.bin',
      'c.url.bin',
      'd.scf.bin',
      'Desktop.ini.bin',
      'e.searchConnector-ms.bin',
      'f.url.pdf',
    ]);
    expect(named('COM¹.txt', 'con .txt', 'console.txt')).toEqual(['_COM¹.txt', '_con.txt', 'console.txt']);
  });

  it('are each there once, whatever their capitals and accents are made of', () => {
    expect(named('é.txt', 'e\u0301.txt', 'É.TXT', 'straße', 'STRASSE', 'a (2).x', 'a.x', 'a.x')).toEqual([
      'é.txt',
      'é (2).txt',
      'É (3).TXT',
      'straße',
      'STRASSE (2)',
      'a (2).x',
      'a.x',
      'a (3).x',
    ]);
  });

  it('have these properties for all names', () => {
    const anyName = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 255 }),
      fc.string({ unit: fc.constantFrom('.', '/', '\\', ' ', '\u202e', 'ä', '😀', 'c', 'o', 'n', ':') }),
    );
    fc.assert(
      fc.property(fc.array(anyName, { maxLength: 12 }), (names) => {
        const given = named(...names);
        expect(new Set(given.map((name) => name.toUpperCase())).size).toBe(names.length);
        for (const name of given) {
          expect(name).not.toMatch(/[/\\:*?"<>|\p{C}]|^[.\s]|[.\s]$/u);
          expect(Buffer.byteLength(name)).toBeLessThan(200);
          expect(Buffer.byteLength(name)).toBeGreaterThan(0);
        }
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('are inert where browsers know their ending and run nothing of it', () => {
    const inert = (kind: AttachedFile['kind'], ...names: string[]) =>
      names.filter((name) => isInert(name, kind));
    expect(inert('film', 'a.png', 'a.PDF', 'a.webm', 'a.txt')).toHaveLength(4);
    expect(inert('film', 'a.html', 'a.svg', 'a.xml', 'a.xhtml', 'a.foo', 'a', 'a.m3u8', 'a.png.hta')).toEqual(
      [],
    );
    expect(inert('file', 'a.png', 'a.PDF', 'a.webm', 'a.mp4', 'a.mp3')).toEqual(['a.png', 'a.PDF']);
  });
});

describe('a relay that gives nothing for a while', () => {
  it('is waited for, and asked once a file when it stays away', async () => {
    const { clock, random } = testDeps();
    let isThere = false;
    let asked = 0;
    const blobs = {
      read: async () => {
        asked += 1;
        if (!isThere) throw new NetworkError('unreachable');
        return new ArrayBuffer(1);
      },
    };
    const patient = createPatientBlobs({ clock, random }, blobs, new AbortController().signal);
    const first = patient.read('blob', 0, 1);
    await settled();
    await clock.advance(3_000);
    isThere = true;
    await clock.advance(10_000);
    expect((await first).byteLength).toBe(1);

    isThere = false;
    const second = patient.read('blob', 0, 1);
    const outcome = second.catch((error: unknown) => error);
    await settled();
    await clock.advance(120_000);
    expect(await outcome).toMatchObject({ code: 'unreachable' });
    asked = 0;
    await expect(patient.read('blob', 0, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(asked).toBe(1);
    isThere = true;
    await patient.read('blob', 0, 1);
    // It is back: what fails now is waited for again.
    isThere = false;
    const third = patient.read('blob', 0, 1);
    await settled();
    isThere = true;
    await clock.advance(3_000);
    expect((await third).byteLength).toBe(1);
  });

  it('is not waited for where it refuses, nor for a person who has cancelled', async () => {
    const { clock, random } = testDeps();
    const stop = new AbortController();
    const refusing = { read: async () => Promise.reject(gone) };
    await expect(createPatientBlobs({ clock, random }, refusing, stop.signal).read('b', 0, 1)).rejects.toBe(
      gone,
    );
    const away = { read: async () => Promise.reject(new NetworkError('timeout')) };
    const waiting = createPatientBlobs({ clock, random }, away, stop.signal).read('b', 0, 1);
    const outcome = waiting.catch((error: unknown) => error);
    await settled();
    stop.abort();
    await clock.advance(3_000);
    expect(await outcome).toMatchObject({ name: 'AbortError' });
  });
});
