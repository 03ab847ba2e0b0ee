import { fileName } from '../../i18n/fileName.ts';
import type { AttachedFile } from '../../store/files.ts';

/** The endings of what a player or a picture of each known type is called; the first one is given where none fits. */
const endingsOf: Readonly<Record<string, readonly string[]>> = {
  'image/avif': ['avif'],
  'image/gif': ['gif'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/png': ['png'],
  'image/webp': ['webp'],
  'video/mp4': ['mp4', 'm4v'],
  'video/webm': ['webm'],
  'audio/mp4': ['m4a', 'mp4'],
  'audio/mpeg': ['mp3'],
  'audio/ogg': ['ogg', 'oga', 'opus'],
  'audio/wav': ['wav'],
  'audio/webm': ['webm'],
};

/** Endings of documents that browsers know, and run nothing of. They look into files with an ending that they don't know. */
const documents = 'csv docx epub ics odp ods odt pdf pptx txt vcf xlsx zip'.split(' ');
const pictures = Object.entries(endingsOf).flatMap(([type, endings]) =>
  type.startsWith('image/') ? endings : [],
);
const inert: ReadonlySet<string> = new Set([...documents, ...pictures]);
const played: ReadonlySet<string> = new Set(Object.values(endingsOf).flat());

/** Bytes of UTF-8 that are left of a name before its ending: file systems take 255 of a whole one. */
const stemBytes = 150;

export type NamedFile = Pick<AttachedFile, 'kind' | 'name' | 'type'>;

/**
 * Returns whether a browser that is led to the file shows or keeps it, and runs nothing that its sender wrote. A film that was sent
 * as a plain file has nothing but its name to show for it: it may be a list of what a player is to fetch.
 */
export function isInert(path: string, kind: AttachedFile['kind']): boolean {
  const ending = split(path).ending.toLowerCase();
  return inert.has(ending) || (kind !== 'file' && played.has(ending));
}

/**
 * Names files for one folder of an archive, each once, also where capitals make no difference. Such a name leads nowhere else,
 * reads in the direction in which it is written, and is taken by Windows, macOS and Linux.
 */
export function createArchivedNames(): (file: NamedFile, isPlayable: boolean) => string {
  const taken = new Set<string>();
  /** The number that is tried next for a name, so that thousands with the same one are soon named. */
  const next = new Map<string, number>();

  return (file, isPlayable) => {
    const { ending, stem } = withEnding(split(cleaned(fileName(file))), file, isPlayable);
    const named = (words: string) => (ending === '' ? words : `${words}.${ending}`);
    const wanted = keyOf(named(stem));
    for (let number = next.get(wanted) ?? 1; ; number += 1) {
      const name = named(number === 1 ? stem : `${stem} (${number})`);
      if (taken.has(keyOf(name))) continue;
      taken.add(keyOf(name));
      next.set(wanted, number + 1);
      return name;
    }
  };
}

interface Name {
  readonly stem: string;
  /** Without the dot; empty for none. */
  readonly ending: string;
}

function split(name: string): Name {
  const [, stem = name, ending = ''] = /^(.+)\.([A-Za-z0-9]{1,8})$/u.exec(name) ?? [];
  return { stem, ending };
}

/** Holds a file to its type, by which browsers open it: a film that plays as such is called so, whatever its sender calls it. */
function withEnding({ ending, stem }: Name, { kind, type }: NamedFile, isPlayable: boolean): Name {
  const whole = ending === '' ? stem : `${stem}.${ending}`;
  if (kind === 'file') return { stem: shortened(stem), ending };
  if (!isPlayable) return { stem: shortened(whole), ending: 'bin' };
  const endings = endingsOf[type] ?? [];
  if (endings.includes(ending.toLowerCase())) return { stem: shortened(stem), ending };
  return { stem: shortened(whole), ending: endings[0] ?? 'bin' };
}

/** Names of devices on Windows, with any ending. */
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])\s*(?:\.|$)/i;

/**
 * Windows reads these as soon as their folder is shown, and asks an address in them for a picture, with a proof of the person's
 * password. Nobody has to open one, as archives are unpacked whole.
 */
const readUnasked =
  /(?:\.(?:desklink|library-ms|lnk|local|mapimail|pif|scf|search-ms|searchconnector-ms|theme|themepack|url)|^desktop\.ini|^autorun\.inf)$/i;

function cleaned(name: string): string {
  const clean = name
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/\p{C}/gu, '')
    .replace(/["*/:<>?\\|]/g, '_')
    .replace(/^[\s.]+|[\s.]+$/gu, '');
  if (clean === '') return '_';
  if (readUnasked.test(clean)) return `${clean}.bin`;
  return device.test(clean) ? `_${clean}` : clean;
}

function shortened(stem: string): string {
  const encoder = new TextEncoder();
  let length = 0;
  let kept = '';
  for (const character of stem) {
    length += encoder.encode(character).length;
    if (length > stemBytes) break;
    kept += character;
  }
  return kept.trimEnd();
}

function keyOf(name: string): string {
  return name.normalize('NFKC').toUpperCase();
}
