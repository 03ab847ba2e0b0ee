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

export function readCapabilities(r: Reader): Capabilities {
  return {
    versions: r.u16s('capabilities'),
    cipherSuites: r.u16s('capabilities'),
    extensions: r.u16s('capabilities'),
    proposals: r.u16s('capabilities'),
    credentials: r.u16s('capabilities'),
  };
}

export function writeCapabilities(w: Writer, capabilities: Capabilities): void {
  w.u16s(capabilities.versions);
  w.u16s(capabilities.cipherSuites);
  w.u16s(capabilities.extensions);
  w.u16s(capabilities.proposals);
  w.u16s(capabilities.credentials);
}

/** The required_capabilities extension (RFC 9420 section 11.1). */
export interface RequiredCapabilities {
  readonly extensions: readonly number[];
  readonly proposals: readonly number[];
  readonly credentials: readonly number[];
}

export function readRequiredCapabilities(r: Reader): RequiredCapabilities {
  return {
    extensions: r.u16s('capabilities'),
    proposals: r.u16s('capabilities'),
    credentials: r.u16s('capabilities'),
  };
}

export function writeRequiredCapabilities(w: Writer, required: RequiredCapabilities): void {
  w.u16s(required.extensions);
  w.u16s(required.proposals);
  w.u16s(required.credentials);
}
