import type allEnglish from './en/index.ts';
import type { AnyLocale } from './locales.ts';
import { pseudoLocale, pseudoMarks } from './locales.ts';

type English = typeof allEnglish;

/** `namespace.key` of every text there is. */
export type MessageId = {
  [Namespace in keyof English]: `${Namespace & string}.${keyof English[Namespace] & string}`;
}[keyof English];

/** A text as the build compiled it (vite.config.ts): parts, and the names of the values between them. */
export type Compiled = (string | [name: string, kind?: string, options?: Record<string, unknown>])[];

export type Catalogue = Readonly<Record<string, Compiled>>;

/** Texts that are loaded together: for everybody, for members, for an open chat and the tabs after the first, and for pages that are read and tried out. */
export type CataloguePart = 'visitors' | 'members' | 'tabs' | 'legal';

const english = {
  visitors: () => import('./en/visitors.ts'),
  members: () => import('./en/members.ts'),
  tabs: () => import('./en/tabs.ts'),
  legal: () => import('./en/legal.ts'),
};

const loaders = {
  en: english,
  fi: {
    visitors: () => import('./fi/visitors.ts'),
    members: () => import('./fi/members.ts'),
    tabs: () => import('./fi/tabs.ts'),
    legal: () => import('./fi/legal.ts'),
  },
  [pseudoLocale]: english,
} satisfies Record<AnyLocale, Record<CataloguePart, () => Promise<unknown>>>;

/** The texts of a part of a language. */
export async function loadCatalogue(locale: AnyLocale, part: CataloguePart): Promise<Catalogue> {
  const { default: namespaces } = await loaders[locale][part]();
  const texts = Object.entries(namespaces).flatMap(([namespace, entries]) =>
    Object.entries(entries as unknown as Record<string, Compiled>).map(
      ([key, text]) => [`${namespace}.${key}`, locale === pseudoLocale ? inMarks(text) : text] as const,
    ),
  );
  return Object.fromEntries(texts);
}

function inMarks(text: Compiled): Compiled {
  return [pseudoMarks.start, ...text, pseudoMarks.end];
}
