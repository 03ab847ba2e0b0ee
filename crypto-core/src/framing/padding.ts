/** Texts of up to some hundred characters fit, so that all short messages have one size. */
const SMALLEST = 256;

/**
 * Computes the length to pad a message's content to, from the content's own length, which is that of the plaintext and some
 * 70 bytes more. It is at least the content's.
 */
export type PadTo = (length: number) => number;

/**
 * Computes the Padmé length to pad to, so that a ciphertext's length tells O(log log length) bits, for at most 12 %
 * more bytes. The length is rounded up so that its binary form has as many significant bits as its exponent has
 * digits. RFC 9420 leaves the length of the padding to the application (section 6.3.1).
 * @param length in bytes, below 2^32
 * @returns bytes, 256 at least
 */
export function paddedLength(length: number): number {
  if (length <= SMALLEST) return SMALLEST;
  const exponent = 31 - Math.clz32(length);
  const significantBits = 32 - Math.clz32(exponent);
  const granularity = 2 ** (exponent - significantBits);
  return Math.ceil(length / granularity) * granularity;
}
