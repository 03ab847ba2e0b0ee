import * as z from 'zod/mini';

// zod/mini brings no messages along.
const { localeError } = z.locales.en();

/** One line that people read: no marks that draw nothing or turn the text, nothing to break a page title or a file. */
const line = (longest: number) =>
  z
    .string()
    .check(
      z.trim(),
      z.minLength(1, 'must not be empty'),
      z.maxLength(longest, `must have at most ${longest} characters`),
      z.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'must be one line without invisible characters'),
    );

const address = z.nullable(z.email('must be an email address, or null'));

/** The facts of one installation, which are not the software's; documented in README.md beside this file. */
export const operatorSchema = z.strictObject({
  productName: line(30),
  supportEmail: address,
  privacyEmail: address,
  controller: z.nullable(z.strictObject({ name: line(120), address: line(240), country: line(60) })),
  governingLaw: z.strictObject({ en: line(60), fi: line(60) }),
  certificates: z.array(z.strictObject({ name: line(40), issuer: line(80) })).check(z.maxLength(6)),
});

export type Operator = z.infer<typeof operatorSchema>;

/**
 * The settings in a file's text.
 * @throws an Error of one sentence per wrong field, each naming it, for who has written the file
 */
export function parseOperator(text: string, file: string): Operator {
  const result = operatorSchema.safeParse(parseJson(text, file), { error: localeError });
  if (result.success) return result.data;
  const sentences = result.error.issues.map(({ path, message }) => {
    const field = path.length === 0 ? 'the file' : path.join('.');
    return `${file}: ${field}: ${message}.`;
  });
  throw new Error(sentences.join('\n'));
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file}: this is not JSON.`, { cause });
  }
}
