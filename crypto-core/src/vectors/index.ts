/**
 * Published test vectors, run by whoever has them: in a browser, say, where a person wants to see that this very code does what others
 * have published. It knows nothing of files.
 */

export { runVector, type VectorFormat, vectorFormats } from './runVector.ts';
