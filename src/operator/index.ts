import { defaultOperator, type Operator, operatorPath, wrongSetting } from '@sinetti/relay/contract/operator';

export { type Operator, operatorPath } from '@sinetti/relay/contract/operator';

/** The settings of this installation, as its relay has told them; until then, and where it tells none, the defaults. */
export let operator: Operator = defaultOperator;

/**
 * Takes over what the relay says of this installation, which the page has asked for before its scripts (index.html).
 * @returns false where the answer is none that this client understands: it goes on with the defaults
 */
export async function loadOperator(fetch: typeof globalThis.fetch): Promise<boolean> {
  try {
    const told = (await (await fetch(operatorPath)).json()) as Operator;
    if (wrongSetting(told) !== undefined) return false;
    operator = told;
    return true;
  } catch {
    return false;
  }
}

/** The product's name as the beginning of a file name. */
export function productSlug(): string {
  return (
    operator.productName
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'messenger'
  );
}
