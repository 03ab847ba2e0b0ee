import { type Extension, findExtension } from '../structs/extension.ts';

/**
 * `sinetti_outside`, of the range for private use: a GroupInfo extension by which the signer says that it came in from outside
 * with the commit that began this epoch, and vouches for nobody whom it found in the tree.
 */
export const FROM_OUTSIDE_EXTENSION = 0xf0a3;

const VERSION = 1;

/** Makes the extension for a GroupInfo. */
export function fromOutsideExtension(): Extension {
  return { type: FROM_OUTSIDE_EXTENSION, data: Uint8Array.of(VERSION) };
}

/** Returns whether the signer of a GroupInfo says so among its extensions, in whatever form. */
export function isFromOutside(extensions: readonly Extension[]): boolean {
  return findExtension(extensions, FROM_OUTSIDE_EXTENSION) !== undefined;
}
