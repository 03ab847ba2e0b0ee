import settings from './operator.json';
import type { Operator } from './schema.ts';

/** The settings of this build (README.md), checked when it was made. */
export const operator: Operator = settings;

/** The product's name as the beginning of a file name. */
export const productSlug: string =
  operator.productName
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'messenger';
