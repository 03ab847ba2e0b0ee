/** HTML that is safe to write: made by {@link html} only, which escapes everything that isn't one already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | readonly Markup[] | string | number;

/** HTML with values in it: what people wrote goes in as a string and stays what they wrote, whatever it looks like. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const text = parts.map((part, at) => part + (at < values.length ? textOf(values[at]) : ''));
  return new Markup(text.join(''));
}

function textOf(value: Value | undefined): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * The characters that HTML has no way to write: the control characters, noncharacters and halves of surrogate pairs.
 */
const unwritable = /[^\P{Cc}\t\n\r]|[\p{Cs}\uFFFE\uFFFF]/gu;

function escaped(text: string): string {
  return text.replace(unwritable, '\uFFFD').replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
