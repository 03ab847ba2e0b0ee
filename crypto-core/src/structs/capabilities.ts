import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';

/** The features that a leaf's client understands, as IANA numbers (RFC 9420 section 7.2). */
export interface Capabilities {
  readonly versions: readonly number[];
  readonly cipherSuites: readonly number[];
  readonly extensions: readonly number[];
  readonly proposals: readonly number[];
  readonly credentials: readonly number[];
}

const readU16 = (r: Reader): number => r.u16();
const writeU16 = (w: Writer, value: number): void => w.u16(value);

export function readCapabilities(r: Reader): Capabilities {
  return {
    versions: r.vector(readU16),
    cipherSuites: r.vector(readU16),
    extensions: r.vector(readU16),
    proposals: r.vector(readU16),
    credentials: r.vector(readU16),
  };
}

export function writeCapabilities(w: Writer, capabilities: Capabilities): void {
  w.vector(capabilities.versions, writeU16);
  w.vector(capabilities.cipherSuites, writeU16);
  w.vector(capabilities.extensions, writeU16);
  w.vector(capabilities.proposals, writeU16);
  w.vector(capabilities.credentials, writeU16);
}

/** The required_capabilities extension (RFC 9420 section 11.1). */
export interface RequiredCapabilities {
  readonly extensions: readonly number[];
  readonly proposals: readonly number[];
  readonly credentials: readonly number[];
}

export function readRequiredCapabilities(r: Reader): RequiredCapabilities {
  return { extensions: r.vector(readU16), proposals: r.vector(readU16), credentials: r.vector(readU16) };
}

export function writeRequiredCapabilities(w: Writer, required: RequiredCapabilities): void {
  w.vector(required.extensions, writeU16);
  w.vector(required.proposals, writeU16);
  w.vector(required.credentials, writeU16);
}
