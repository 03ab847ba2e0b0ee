/**
 * The cases of another file than the carried ones, for `npm run vectors`. `name` is the test that runs them, as the carried file
 * is called; null while the tests run on the carried files.
 * @type {{ name: string | null, cases: readonly unknown[] }}
 */
export const given = { name: null, cases: [] };
