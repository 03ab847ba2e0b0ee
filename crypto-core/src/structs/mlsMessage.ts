import type { Limits } from '../codec/limits.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { readGroupInfo, type UnverifiedGroupInfo, writeGroupInfo } from './groupInfo.ts';
import { readKeyPackage, type UnverifiedKeyPackage, writeKeyPackage } from './keyPackage.ts';
import { type PrivateMessage, readPrivateMessage, writePrivateMessage } from './privateMessage.ts';
import { readMls10, writeMls10 } from './protocolVersion.ts';
import { type PublicMessage, readPublicMessage, writePublicMessage } from './publicMessage.ts';
import { readWelcome, type Welcome, writeWelcome } from './welcome.ts';
import { WireFormatValue } from './wireFormat.ts';

/** The outermost envelope of everything that is sent (RFC 9420 section 6). */
export type MlsMessage =
  | { readonly wireFormat: 'public-message'; readonly publicMessage: PublicMessage }
  | { readonly wireFormat: 'private-message'; readonly privateMessage: PrivateMessage }
  | { readonly wireFormat: 'welcome'; readonly welcome: Welcome }
  | { readonly wireFormat: 'group-info'; readonly groupInfo: UnverifiedGroupInfo }
  | { readonly wireFormat: 'key-package'; readonly keyPackage: UnverifiedKeyPackage };

/** @throws CryptoError 'unsupported' for another protocol version or an unknown wire format. */
export function readMlsMessage(r: Reader): MlsMessage {
  readMls10(r);
  const wireFormat = r.u16();
  switch (wireFormat) {
    case WireFormatValue['public-message']:
      return { wireFormat: 'public-message', publicMessage: readPublicMessage(r) };
    case WireFormatValue['private-message']:
      return { wireFormat: 'private-message', privateMessage: readPrivateMessage(r) };
    case WireFormatValue.welcome:
      return { wireFormat: 'welcome', welcome: readWelcome(r) };
    case WireFormatValue['group-info']:
      return { wireFormat: 'group-info', groupInfo: readGroupInfo(r) };
    case WireFormatValue['key-package']:
      return { wireFormat: 'key-package', keyPackage: readKeyPackage(r) };
    default:
      throw new CryptoError('unsupported', `wire format ${wireFormat}`);
  }
}

export function writeMlsMessage(w: Writer, message: MlsMessage): void {
  writeMls10(w);
  w.u16(WireFormatValue[message.wireFormat]);
  switch (message.wireFormat) {
    case 'public-message':
      return writePublicMessage(w, message.publicMessage);
    case 'private-message':
      return writePrivateMessage(w, message.privateMessage);
    case 'welcome':
      return writeWelcome(w, message.welcome);
    case 'group-info':
      return writeGroupInfo(w, message.groupInfo);
    case 'key-package':
      return writeKeyPackage(w, message.keyPackage);
  }
}

/** Decodes one whole message; trailing bytes are `malformed`. @throws CryptoError 'malformed', 'unsupported' */
export function decodeMlsMessage(bytes: Uint8Array, limits?: Limits): MlsMessage {
  return decode(bytes, readMlsMessage, limits);
}

export function encodeMlsMessage(message: MlsMessage): Uint8Array {
  const { privateMessage } = message as { readonly privateMessage?: PrivateMessage };
  return encode(message, writeMlsMessage, privateMessage && privateMessage.ciphertext.length + 1024);
}
